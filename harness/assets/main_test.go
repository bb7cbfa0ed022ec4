package assets

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

// helperVariable makes the test binary a process that gets programs, so that
// tests can have several processes and kill them.
const helperVariable = "SEATRIAL_ASSETS_TEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(helperVariable) == "" {
		os.Exit(m.Run())
	}
	if err := help(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// help gets the newest release by download and writes what it got as JSON.
func help() error {
	options := OptionsFromEnv(os.LookupEnv)
	options.Sources = []Source{SourceCache, SourceDownload}
	store, err := New(options)
	if err != nil {
		return err
	}
	set, err := store.Get(context.Background(), Request{})
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(set.Files)
}
