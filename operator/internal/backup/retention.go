package backup

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"slices"
	"time"
)

// kept is one directory of ours next to the new backup.
type kept struct {
	name     string
	complete bool
	at       time.Time
}

// expired names what goes: complete backups beyond the newest keep, and
// incomplete ones that were begun before the newest complete one.
func expired(found []kept, keep int) []string {
	newestFirst := slices.SortedFunc(slices.Values(found), func(a, b kept) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(b.name, a.name))
	})
	var names []string
	complete := 0
	for _, k := range newestFirst {
		switch {
		case k.complete && complete < keep:
			complete++
		case k.complete, complete > 0:
			names = append(names, k.name)
		}
	}
	return names
}

// prune removes what has expired in directory. The root keeps it from
// following symbolic links out of it, and they are no directories.
func prune(directory string, keep int) ([]string, error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, fmt.Errorf("opening the backups: %w", err)
	}
	defer func() { _ = root.Close() }()
	entries, err := os.ReadDir(directory)
	if err != nil {
		return nil, fmt.Errorf("listing the backups: %w", err)
	}
	var found []kept
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		if k, ours := look(root, e.Name()); ours {
			found = append(found, k)
		}
	}
	names := expired(found, keep)
	for _, name := range names {
		// Without its manifest it is no backup any more, should the rest of
		// the removal not come about.
		if err := root.Remove(path.Join(name, manifestFile)); err != nil && !os.IsNotExist(err) {
			return nil, fmt.Errorf("removing the old backup %s: %w", name, err)
		}
		if err := root.RemoveAll(name); err != nil {
			return nil, fmt.Errorf("removing the old backup %s: %w", name, err)
		}
	}
	return names, nil
}

func look(root *os.Root, name string) (kept, bool) {
	if data, err := root.ReadFile(path.Join(name, manifestFile)); err == nil {
		m, err := decodeManifest(data)
		return kept{name: name, complete: true, at: m.CreatedAt}, err == nil
	}
	data, err := root.ReadFile(path.Join(name, startedFile))
	if err != nil {
		return kept{}, false
	}
	var s started
	if err := json.Unmarshal(data, &s); err != nil || s.APIVersion != APIVersion {
		return kept{}, false
	}
	return kept{name: name, at: s.StartedAt}, true
}
