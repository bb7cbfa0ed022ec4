// Command backup copies the data of a Redis Cluster into a directory, checks
// such copies and restores them.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9/logging"

	"github.com/seatrial/seatrial/operator/internal/backup"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	// What the Redis client has to say of connections stands in the errors.
	logging.Disable()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "backup:", err)
		os.Exit(1)
	}
}

// errUsage is a mistake on the command line, which has been explained.
var errUsage = errors.New("usage")

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	verb := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		verb, args = args[0], args[1:]
	}
	switch verb {
	case "":
		return take(ctx, args, stdout, stderr)
	case "verify":
		return verify(args, stdout, stderr)
	case "restore":
		return restore(ctx, args, stdout, stderr)
	}
	fmt.Fprintf(stderr, "backup: there is no %q, only verify and restore\n", verb)
	return errUsage
}

// target are the flags that say which Redis Cluster is meant.
type target struct {
	addresses    string
	passwordFile string
	timeout      time.Duration
}

func (t *target) register(flags *flag.FlagSet) {
	flags.StringVar(&t.addresses, "address", "", "Nodes of the Redis Cluster as host:port, several with commas. The others are found.")
	flags.StringVar(&t.passwordFile, "password-file", "", "File with the password; a line end at its end does not count. None by default.")
	flags.DurationVar(&t.timeout, "timeout", 6*time.Hour, "When to give up.")
}

func (t *target) access() (backup.Access, error) {
	a := backup.Access{Addresses: strings.Split(t.addresses, ",")}
	if t.passwordFile == "" {
		return a, nil
	}
	data, err := os.ReadFile(t.passwordFile)
	if err != nil {
		return a, fmt.Errorf("reading the password: %w", err)
	}
	a.Password = strings.TrimRight(string(data), "\r\n")
	return a, nil
}

// parse reads flags, and says what is wrong with them by check.
func parse(flags *flag.FlagSet, args []string, stderr io.Writer, check func() string) error {
	flags.SetOutput(stderr)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return errUsage
	}
	if problem := check(); problem != "" {
		fmt.Fprintf(stderr, "%s: %s\n", flags.Name(), problem)
		return errUsage
	}
	return nil
}

func logger(w io.Writer) func(string, ...any) {
	return func(format string, values ...any) {
		fmt.Fprintf(w, time.Now().UTC().Format(time.RFC3339)+" "+format+"\n", values...)
	}
}

func take(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var t target
	o := backup.Options{Now: time.Now, Log: logger(stderr)}
	flags := flag.NewFlagSet("backup", flag.ContinueOnError)
	t.register(flags)
	flags.StringVar(&o.Directory, "directory", "", "Where the backups are, each in a directory of its name.")
	flags.StringVar(&o.Name, "name", "", "Name of this backup. The same name again finishes what was begun.")
	flags.IntVar(&o.Parallelism, "parallelism", 2, "How many shards are copied at a time.")
	flags.IntVar(&o.Keep, "keep", 3, "How many complete backups remain in the directory.")
	flags.DurationVar(&o.Retry, "retry", 2*time.Minute, "For how long a shard that cannot be copied just now is tried again.")
	flags.DurationVar(&o.Stall, "stall-timeout", time.Minute, "For how long a node may send nothing.")
	err := parse(flags, args, stderr, func() string {
		switch {
		case flags.NArg() > 0:
			return "takes flags only"
		case t.addresses == "" || o.Directory == "" || o.Name == "":
			return "-address, -directory and -name are needed"
		case o.Parallelism < 1 || o.Keep < 1:
			return "-parallelism and -keep must be at least 1"
		}
		return ""
	})
	if err != nil {
		return err
	}
	if o.Access, err = t.access(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	m, err := backup.Run(ctx, o)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(m)
}

func verify(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("backup verify", flag.ContinueOnError)
	err := parse(flags, args, stderr, func() string {
		if flags.NArg() != 1 {
			return "takes the directory of one backup"
		}
		return ""
	})
	if err != nil {
		return err
	}
	m, err := backup.Verify(flags.Arg(0))
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(m)
}

func restore(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var t target
	o := backup.RestoreOptions{Log: logger(stderr)}
	flags := flag.NewFlagSet("backup restore", flag.ContinueOnError)
	t.register(flags)
	flags.StringVar(&o.From, "from", "", "Directory of the backup.")
	flags.BoolVar(&o.Replace, "replace", false, "Restore over what is there: the same keys are overwritten, others stay.")
	flags.StringVar(&o.Server, "redis-server", "redis-server", "Program that reads the files, of the version that wrote them or a later one.")
	err := parse(flags, args, stderr, func() string {
		switch {
		case flags.NArg() > 0:
			return "takes flags only"
		case t.addresses == "" || o.From == "":
			return "-address and -from are needed"
		}
		return ""
	})
	if err != nil {
		return err
	}
	if o.Access, err = t.access(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, t.timeout)
	defer cancel()
	done, err := backup.Restore(ctx, o)
	if err != nil {
		return err
	}
	return json.NewEncoder(stdout).Encode(done)
}
