package certificate

import (
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	ctrl "sigs.k8s.io/controller-runtime"
)

var update = flag.Bool("update", false, "write the golden files")

// life is how the certificate of a world went on: a line for each state that
// the Secret or the consumers were in.
type life struct {
	letters map[string]string
	lines   []string
}

// letter names certificates in the order in which they were first seen.
func (l *life) letter(c *x509.Certificate) string {
	key := string(c.Raw)
	if l.letters[key] == "" {
		if l.letters == nil {
			l.letters = map[string]string{}
		}
		l.letters[key] = string(rune('A' + len(l.letters)))
	}
	return l.letters[key]
}

// note adds a line if the state is not that of the last.
func (l *life) note(t *testing.T, w *world) {
	t.Helper()
	m := w.secret(t)
	var cas []string
	for _, a := range m.Authorities {
		name := l.letter(a.Certificate)
		if a.Key != nil {
			name += "+key"
		}
		cas = append(cas, name)
	}
	carried := "elsewhere not"
	if bundle := string(m.Bundle()); w.bundles(t)["rule"] == bundle && w.bundles(t)["default"] == bundle && w.bundles(t)["conversion"] == bundle {
		carried = "everywhere"
	}
	issuer, fault := m.issuer(w.clock.Now(), names)
	if issuer < 0 {
		t.Errorf("after %s: %s", w.clock.Now().Sub(start), fault)
		return
	}
	state := fmt.Sprintf("trusted %s, %s; served with one of %s until day %.1f",
		strings.Join(cas, " "), carried, l.letter(m.Authorities[issuer].Certificate), m.Serving.Certificate.NotAfter.Sub(start).Hours()/24)
	if !m.Published.IsZero() {
		state += "; published"
	}
	if len(l.lines) > 0 && strings.HasSuffix(l.lines[len(l.lines)-1], ": "+state) {
		return
	}
	since := w.clock.Now().Sub(start)
	l.lines = append(l.lines, fmt.Sprintf("day %d %s: %s", since/day, since%day, state))
}

// TestLife holds two rotations of the CA, write by write.
func TestLife(t *testing.T) {
	w := newWorld(t, consumers()...)
	k := w.keeper()
	var l life
	w.after = func(string) error { l.note(t, w); return nil }
	for looks := 0; w.clock.Now().Before(start.Add(130 * day)); looks++ {
		if looks > 100 {
			t.Fatal("looked more than 100 times")
		}
		w.clock.SetTime(visit(t, k))
	}
	golden(t, "life", strings.Join(l.lines, "\n")+"\n")
}

// TestLifeGoesOnAfterACrash ends the replica after each write in turn. Another
// one takes over from what is stored, and everything goes as it would have.
func TestLifeGoesOnAfterACrash(t *testing.T) {
	dead := errors.New("the replica has died")
	for crash := 1; ; crash++ {
		w := newWorld(t, consumers()...)
		var l life
		made, died := 0, false
		w.before = func(string) error {
			if died {
				return dead
			}
			return nil
		}
		w.after = func(string) error {
			l.note(t, w)
			if made++; made == crash {
				died = true
				return dead
			}
			return nil
		}
		k := w.keeper()
		for w.clock.Now().Before(start.Add(130 * day)) {
			result, err := k.Reconcile(t.Context(), ctrl.Request{})
			switch {
			case errors.Is(err, dead):
				k, died = w.keeper(), false
			case err != nil:
				t.Fatal(err)
			default:
				w.clock.SetTime(w.clock.Now().Add(max(result.RequeueAfter, time.Second)))
			}
		}
		golden(t, "life", strings.Join(l.lines, "\n")+"\n")
		if made < crash {
			// The last time there was no write left to crash after.
			if made < len(l.lines) {
				t.Errorf("crashed after each of %d writes, want at least %d", made, len(l.lines))
			}
			return
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), go test -update writes it:\n%s", name, diff)
	}
}
