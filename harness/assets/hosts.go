package assets

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// unreachableFor is how long a host that could not be reached is not asked
// again, while there is another source.
const unreachableFor = 10 * time.Minute

// hostMemory remembers hosts that cannot be reached, in this process and in a
// file for the next ones, so that a machine without a route waits once.
type hostMemory struct {
	path string
	now  func() time.Time
	// ask is set where the user has no other source: hosts are then asked
	// whatever an earlier process found.
	ask bool

	mu   sync.Mutex
	here map[string]unreachable
}

type unreachable struct {
	Since  time.Time `json:"since"`
	Reason string    `json:"reason"`
}

// errUnreachable marks errors that say that a host cannot be reached.
var errUnreachable = errors.New("unreachable")

// check returns an error that is errUnreachable when the host is not to be
// asked.
func (h *hostMemory) check(host string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if u, ok := h.here[host]; ok {
		return fmt.Errorf("%s is %w: %s", host, errUnreachable, u.Reason)
	}
	if h.ask {
		return nil
	}
	u, ok := h.read()[host]
	if age := h.now().Sub(u.Since); ok && age >= 0 && age < unreachableFor {
		return fmt.Errorf("%s was %w %s ago: %s (not asked again within %s)",
			host, errUnreachable, age.Round(time.Second), u.Reason, unreachableFor)
	}
	return nil
}

// remember notes why a host cannot be reached and returns that as an error.
func (h *hostMemory) remember(host string, reason error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.here == nil {
		h.here = map[string]unreachable{}
	}
	u := unreachable{Since: h.now().UTC(), Reason: firstLine(reason)}
	h.here[host] = u
	h.write(func(known map[string]unreachable) { known[host] = u })
	return fmt.Errorf("%s is %w: %w", host, errUnreachable, reason)
}

// forget notes that a host answered.
func (h *hostMemory) forget(host string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.read()[host]; ok {
		h.write(func(known map[string]unreachable) { delete(known, host) })
	}
}

func (h *hostMemory) read() map[string]unreachable {
	var known map[string]unreachable
	content, err := os.ReadFile(h.path)
	if err != nil || json.Unmarshal(content, &known) != nil || known == nil {
		return map[string]unreachable{} // a broken note is no note
	}
	return known
}

// write replaces the file. Losing a note to another process, or to a full disk,
// costs no more than asking the host again.
func (h *hostMemory) write(change func(map[string]unreachable)) {
	known := h.read()
	change(known)
	content, err := json.Marshal(known)
	if err != nil {
		return
	}
	// A leftover of a killed process is removed with the other temporary files.
	f, err := os.CreateTemp(filepath.Join(filepath.Dir(h.path), "tmp"), "unreachable-")
	if err != nil {
		return
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), h.path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}
