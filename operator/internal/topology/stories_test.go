package topology

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// TestStories holds what is done in the order in which it is done.
func TestStories(t *testing.T) {
	three := Wanted{Shards: 3, ReplicasPerShard: 1, Strategy: RollingUpdate, Persistent: true, SlotsPerStep: 4096}
	with := func(mod func(*Wanted)) Wanted {
		w := three
		mod(&w)
		return w
	}
	outdated := func(s *story) {
		for _, p := range s.pods {
			p.updated = false
		}
	}
	tests := map[string]struct {
		begins  Wanted
		happens func(*story)
		golden  string
	}{
		"a cluster is formed":             {three, nil, "form"},
		"one of a single shard is formed": {with(func(w *Wanted) { w.Shards = 1 }), nil, "form-one"},
		"shards are added":                {three, func(s *story) { s.wanted.Shards = 4 }, "scale-out"},
		"shards are taken away":           {three, func(s *story) { s.wanted.Shards = 2 }, "scale-in"},
		"replicas are taken away":         {three, func(s *story) { s.wanted.ReplicasPerShard = 0 }, "fewer-replicas"},
		"a new revision is wanted":        {three, outdated, "update"},
		"all pods come back elsewhere":    {three, func(s *story) { everyPod(s, s.restart) }, "all-addresses"},
		"a primary's pod and data are gone": {with(func(w *Wanted) { w.Persistent = false }), func(s *story) {
			s.restart(s.pods[0])
		}, "lost-primary"},
		"a shard is lost with its only node": {with(func(w *Wanted) {
			w.Persistent, w.ReplicasPerShard = false, 0
		}), func(s *story) { s.restart(s.pods[1]) }, "lost-shard"},
		"nodes without replicas are drained for a new revision": {with(func(w *Wanted) {
			w.Persistent, w.ReplicasPerShard, w.Shards, w.Unsafe, w.SlotsPerStep = false, 0, 2, Drain, 16384
		}), outdated, "update-drain"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := &story{simulator: newSimulator(tc.begins), random: rand.New(rand.NewPCG(1, 1))} //nolint:gosec // not a secret
			if tc.happens != nil {
				if _, err := s.converge(40); err != nil {
					t.Fatal(err)
				}
				s.log = nil
				tc.happens(s)
				s.settle()
			}
			if _, err := s.converge(80); err != nil {
				t.Fatalf("%v\n%s", err, strings.Join(s.log, "\n"))
			}
			golden(t, tc.golden, strings.Join(s.log, "\n")+"\n")
		})
	}
}

func everyPod(s *story, do func(*simPod)) {
	for _, p := range s.sorted() {
		do(p)
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	got = strings.ReplaceAll(got, " <nil>", "")
	path := filepath.Join("testdata", name+".golden")
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
		t.Errorf("story (-want +got), go test -update writes it:\n%s", diff)
	}
}

// settled is a cluster as wanted, as a view that a test may change.
func settled(t *testing.T, w Wanted) View {
	t.Helper()
	s := &story{simulator: newSimulator(w), random: rand.New(rand.NewPCG(1, 1))} //nolint:gosec // not a secret
	if _, err := s.converge(40); err != nil {
		t.Fatal(err)
	}
	return s.view()
}

func TestWhatBlocksAndWhatWaits(t *testing.T) {
	three := Wanted{Shards: 3, ReplicasPerShard: 1, Strategy: RollingUpdate, SlotsPerStep: 64}
	alone := Wanted{Shards: 3, Strategy: RollingUpdate, Unsafe: Block, SlotsPerStep: 64}
	tests := map[string]struct {
		begins  Wanted
		change  func(*View)
		blocked string
		waiting string
	}{
		"nothing is wrong": {three, func(*View) {}, "", ""},
		"a node is not reached and owns slots without replica": {alone, func(v *View) { v.Pods[0].Redis = nil }, "", ReasonPodsNotReached},
		"a primary is not reached and has a replica":           {three, func(v *View) { v.Pods[0].Redis = nil }, "", ReasonFailingOver},
		"too few are left to vote": {Wanted{Shards: 1, ReplicasPerShard: 1, SlotsPerStep: 64}, func(v *View) {
			v.Pods[0].Redis = nil
		}, ReasonNoMajority, ""},
		"a node holds keys of nobody": {three, func(v *View) {
			fresh := newSimulator(Wanted{Shards: 1}).view().Pods[0]
			fresh.Redis.Keys = 3
			v.Pods[5].Redis = fresh.Redis
		}, ReasonForeignKeys, ""},
		"the only copy would go with an outdated pod": {alone, func(v *View) { v.Pods[0].Updated = false }, ReasonUnsafeShard, ""},
		"a pod cannot start on the new revision": {three, func(v *View) {
			v.Pods[3].Updated = false
			v.Pods[5].Ready, v.Pods[5].Failing = false, true
		}, ReasonUpdateStuck, ""},
		"a pod is not ready while others are outdated": {three, func(v *View) {
			v.Pods[3].Updated = false
			v.Pods[5].Ready = false
		}, "", ReasonPodsNotReady},
		"a replica does not have all data": {three, func(v *View) {
			v.Pods[5].Redis.Replication.LinkUp = false
			v.Pods[4].Updated = false
		}, "", ReasonSyncing},
		"an outdated pod that cannot start may have the only copy": {alone, func(v *View) {
			v.Pods[0].Redis, v.Pods[0].Ready, v.Pods[0].Failing, v.Pods[0].Updated = nil, false, true, false
		}, ReasonUnsafeShard, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			v := settled(t, tc.begins)
			tc.change(&v)
			a := Assess(v)
			if codes(a.Blocked) != tc.blocked || codes(a.Waiting) != tc.waiting {
				t.Errorf("blocked by %v, waiting for %v; want %q and %q", a.Blocked, a.Waiting, tc.blocked, tc.waiting)
			}
			if len(a.Steps) > 0 {
				t.Errorf("it takes the steps %v", a.Steps)
			}
			if diff := cmp.Diff(a, Assess(v)); diff != "" {
				t.Errorf("the second answer differs (-first +second):\n%s", diff)
			}
		})
	}
}

func codes(reasons []Reason) string {
	var all []string
	for _, r := range reasons {
		all = append(all, r.Code)
	}
	return strings.Join(all, " ")
}

func TestAnOutdatedPodThatCannotStartIsReplacedAtOnce(t *testing.T) {
	v := settled(t, Wanted{Shards: 3, ReplicasPerShard: 1, Strategy: RollingUpdate, SlotsPerStep: 64})
	p := &v.Pods[5]
	p.Redis, p.Ready, p.Failing, p.Updated = nil, false, true, false
	if got, want := fmt.Sprint(Assess(v).Steps), "[Delete pod demo-5.]"; got != want {
		t.Errorf("steps are %s, want %s", got, want)
	}
}
