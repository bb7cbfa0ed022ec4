package report

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

var sampleStart = time.Date(2026, 3, 14, 9, 26, 53, 0, time.UTC)

func after(seconds float64) time.Time {
	return sampleStart.Add(time.Duration(seconds * float64(time.Second)))
}

// sampleHistory numbers the entries from 1.
func sampleHistory(entries ...history.Entry) history.History {
	for i := range entries {
		entries[i].Seq = int64(i + 1)
	}
	return history.History{Header: history.Header{Schema: history.Schema, Subject: "redis-operator"}, Entries: entries}
}

// statefulSet is one version of the sample's StatefulSet.
func statefulSet(version, rendered string, replicas int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"redis","namespace":"demo","uid":"u-sts",
"generation":2,"resourceVersion":%q,"annotations":{"cache.example.com/rendered-at":%q},"managedFields":[{"time":%q}]},
"spec":{"replicas":%d,"template":{"spec":{"containers":[{"name":"redis","image":"redis:7.2"}]}}}}`, version, rendered, version, replicas))
}

func seen(at float64, kind history.ChangeType, version string, object json.RawMessage) history.Entry {
	return history.Entry{Time: after(at), Change: &history.Change{
		Type: kind, Group: "apps", Version: "v1", Kind: "StatefulSet", Resource: "statefulsets",
		Namespace: "demo", Name: "redis", UID: "u-sts", ResourceVersion: version, Object: object,
	}}
}

func applied(at float64, version string, object json.RawMessage) history.Entry {
	return history.Entry{Time: after(at), Request: &history.Request{
		Start: after(at - 0.004), Duration: 4 * time.Millisecond,
		Method: "PATCH", Verb: history.VerbPatch, ContentType: "application/apply-patch+yaml", FieldManager: "redis-operator",
		Path:  "/apis/apps/v1/namespaces/demo/statefulsets/redis?fieldManager=redis-operator",
		Group: "apps", Version: "v1", Resource: "statefulsets", Namespace: "demo", Name: "redis",
		Response: history.Response{Code: 200, UID: "u-sts", ResourceVersion: version, Object: object},
	}}
}

func forbidden(at float64) history.Entry {
	return history.Entry{Time: after(at), Request: &history.Request{
		Start: after(at - 0.002), Method: "POST", Verb: history.VerbCreate,
		Path:  "/apis/policy/v1/namespaces/demo/poddisruptionbudgets",
		Group: "policy", Version: "v1", Resource: "poddisruptionbudgets", Namespace: "demo", Name: "redis",
		Response: history.Response{Code: 403, Object: json.RawMessage(`{"kind":"Status","status":"Failure","message":` +
			`"poddisruptionbudgets.policy is forbidden: User \"system:serviceaccount:redis-system:redis-operator\" cannot create resource \"poddisruptionbudgets\" in API group \"policy\" in the namespace \"demo\""}`)},
	}}
}

// trialHistory is what a trial of an operator with three faults looks like.
func trialHistory() history.History {
	first, second := statefulSet("105", "09:27:11Z", 3), statefulSet("131", "09:27:21Z", 3)
	third := statefulSet("140", "09:27:31Z", 3)
	return sampleHistory(
		history.Entry{Time: after(7.2), Mark: &history.Mark{Name: history.MarkStarted}},
		history.Entry{Time: after(7.2), Process: &history.Process{Event: history.ProcessStarted, PID: 4711}},
		forbidden(9.041),
		forbidden(9.052),
		seen(9.6, history.Added, "105", first),
		history.Entry{Time: after(17.9), Mark: &history.Mark{Name: history.MarkConverged, Objects: []trial.ObjectRef{
			{Group: "cache.example.com", Kind: "RedisCluster", Namespace: "demo", Name: "redis"},
		}}},
		applied(21.113, "131", second),
		seen(21.118, history.Modified, "131", second),
		applied(31.204, "140", third),
		seen(31.209, history.Modified, "140", third),
		applied(31.3, "140", third),
		history.Entry{Time: after(33.4), Process: &history.Process{Event: history.ProcessPanicked, Lines: []string{
			"panic: runtime error: invalid memory address or nil pointer dereference",
			"[signal SIGSEGV: segmentation violation code=0x1 addr=0x18 pc=0x1a2b3c]",
			"",
			"goroutine 214 [running]:",
			"example.com/redis-operator/internal/controller.(*Reconciler).finalize(0xc000412000, {0x2ac1b40, 0xc0007d2a80})",
			"\tinternal/controller/finalize.go:58 +0x1d4",
			"example.com/redis-operator/internal/controller.(*Reconciler).Reconcile(0xc000412000, {0x2ac1b40, 0xc0007d2a80})",
			"\tinternal/controller/reconciler.go:91 +0x2f0",
		}}},
		history.Entry{Time: after(33.5), Process: &history.Process{Event: history.ProcessExited, ExitCode: 2}},
	)
}

var (
	sampleStatefulSet = trial.ObjectRef{Group: "apps", Version: "v1", Resource: "statefulsets", Namespace: "demo", Name: "redis"}
	samplePDB         = trial.ObjectRef{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets", Namespace: "demo", Name: "redis"}
)

func check(id, sentence, why, fix string) trial.Check {
	strength := trial.Must
	if id == "no-op-writes" {
		strength = trial.Should
	}
	return trial.Check{
		ID: id, Sentence: sentence, Strength: strength, Level: trial.LevelAPIServer, Why: why, Fix: fix,
		Provenance: []string{"Kubernetes API conventions"},
	}
}

// sampleResults are results of every verdict.
func sampleResults() []trial.Result {
	return []trial.Result{
		{
			Check: check("forbidden-requests", "An operator MUST be granted what it asks for: no request is answered 403 under its own ServiceAccount.",
				"What is refused never happens: a child is missing, and the operator retries for ever.",
				"Add the verb to the ClusterRole that the operator ships, or stop asking."),
			Verdict: trial.Fail, Duration: 412 * time.Microsecond,
			Findings: []trial.Finding{{
				Summary: "2 requests to create poddisruptionbudgets.policy were refused", Object: samplePDB,
				Expected: "the operator's own Role allows create on poddisruptionbudgets.policy", Evidence: []int64{3, 4},
				Hint: `add to the ClusterRole: {apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ["create"]}`,
			}},
		},
		{
			Check: check("quiescent", "A converged operator MUST NOT change objects while nothing changes around it.",
				"Each write wakes every watcher of the object; two operators that never rest load the API server for nothing.",
				"Compare before writing, and keep timestamps and random values out of what is rendered."),
			Verdict: trial.Fail, Duration: 3 * time.Millisecond,
			Findings: []trial.Finding{{
				Summary: "StatefulSet demo/redis was written twice after convergence", Object: sampleStatefulSet,
				Expected: "no write that changes an object until the samples change", Evidence: []int64{6, 7, 8, 9, 10},
				Paths: []string{`.metadata.annotations["cache.example.com/rendered-at"]`},
				Hint:  "the annotation holds a time that differs at each reconcile",
			}},
		},
		{
			Check: check("no-op-writes", "An operator SHOULD NOT send writes that change nothing.",
				"They cost a round trip through admission and authorization each.", "Read from the cache and compare first."),
			Verdict: trial.Fail, Duration: 2 * time.Millisecond,
			Findings: []trial.Finding{{
				Summary: "1 of 3 writes to StatefulSet demo/redis changed nothing", Object: sampleStatefulSet, Evidence: []int64{11},
			}},
		},
		{
			Check: check("observed-generation", "A status with observedGeneration MUST report the generation that it describes.",
				"Tools wait for it; a stale one makes them act on an old status.", "Set it in the one status write at the end of a reconcile."),
			Verdict: trial.NotApplicable, Reason: "the CRD's status has no observedGeneration",
		},
		{
			Check: check("conditions-well-formed", "Conditions MUST have a type, a status, a reason and a transition time.",
				"kubectl wait and every dashboard read them.", "Use meta.SetStatusCondition."),
			Verdict: trial.Pass, Duration: 800 * time.Microsecond,
		},
		{
			Check: check("owner-references-valid", "Owner references MUST name an owner that exists in a scope that may own.",
				"The garbage collector deletes children whose owner it cannot find.", "Use controllerutil.SetControllerReference."),
			Verdict: trial.Skipped, Reason: "left out by the subject file: children are shared between namespaces until v2",
		},
		{
			Check: check("delete-completes", "Deletion of a sample MUST complete.",
				"An object that hangs in deletion blocks its namespace.", "Remove the finalizer on every path, also when the children are gone."),
			Verdict: trial.Inconclusive, Reason: "the operator's process exited before the samples were deleted",
		},
		{
			Check: check("no-panics", "An operator MUST NOT panic.",
				"A crash loop stops the reconciliation of every object.", "Check pointers from optional fields; recover is no fix."),
			Verdict: trial.Fail, Duration: 95 * time.Microsecond,
			Findings: []trial.Finding{{
				Summary: "panic: runtime error: invalid memory address or nil pointer dereference", Evidence: []int64{12, 13},
				Expected: "the process runs until it is asked to stop",
			}},
		},
	}
}

// sampleInput is what an engine would pass to New.
func sampleInput() Input {
	phase := func(name string, at, took float64) Phase {
		return Phase{Name: name, Started: after(at), Duration: time.Duration(took * float64(time.Second))}
	}
	return Input{
		ToolVersion: "v0.1.0", CatalogueVersion: "v1alpha1",
		Subject: Subject{Name: "redis-operator", File: "operator/seatrial.yaml"},
		Cluster: Cluster{Level: trial.LevelControlPlane, Version: "v1.37.2", Programs: []Program{
			{Name: "etcd", Version: "3.6.8", Source: "cache"},
			{Name: "kube-apiserver", Version: "v1.37.2", Source: "cache"},
			{Name: "kube-controller-manager", Version: "v1.37.2", Source: "build"},
			{Name: "kube-scheduler", Version: "v1.37.2", Source: "build"},
		}},
		Command: []string{"seatrial", "run", "-f", "operator/seatrial.yaml"},
		Started: sampleStart, Finished: after(38.412),
		Phases: []Phase{
			phase("prepare", 0, 0.31), phase("build", 0.31, 3.9), phase("cluster", 0.31, 5.4), phase("install", 5.71, 1.2),
			phase("start", 6.91, 1.32), phase("apply", 8.23, 0.4), phase("converge", 8.63, 9.27),
			phase("observe", 17.9, 15.6), phase("stop", 33.5, 4.9),
		},
		Inferred: []string{
			"ServiceAccount redis-system/redis-operator: the only one in the manifests",
			"Ready of RedisCluster: condition Ready, from the CRD's printer columns",
		},
		Warnings: []string{"cleaning up: 1 request was still open after 5s"},
		Results:  sampleResults(), History: trialHistory(),
	}
}
