//go:build envtest

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/seatrial/seatrial/harness/cluster/podlife"
	"github.com/seatrial/seatrial/harness/trial"
)

// within is how long anything in these tests may take.
const within = 40 * time.Second

func programs(t *testing.T) Programs {
	t.Helper()
	dir := os.Getenv("KUBEBUILDER_ASSETS")
	if dir == "" {
		t.Fatal("KUBEBUILDER_ASSETS must name a directory with the programs: use make test-harness")
	}
	return ProgramsIn(dir)
}

// templates is shared by the tests of this package, as users share theirs.
var templates = filepath.Join(os.TempDir(), "seatrial-test-templates")

func startCluster(t *testing.T, level trial.Level) *Cluster {
	t.Helper()
	c, err := Start(t.Context(), Options{Level: level, Programs: programs(t), TemplateDir: templates})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			for name, lines := range c.Logs(10) {
				t.Logf("%s: %q", name, lines)
			}
		}
		if err := c.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return c
}

func newClient(t *testing.T, c *Cluster) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	cl, err := client.New(c.Config(), client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

// await polls until the condition holds, at most for within.
func await(t *testing.T, what string, condition func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), within)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var last error
	for {
		err := condition(ctx)
		if err == nil {
			return
		}
		if ctx.Err() == nil && !strings.Contains(err.Error(), "would exceed context deadline") {
			last = err
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s did not happen within %v: %v", what, within, last)
		case <-tick.C:
		}
	}
}

func create(t *testing.T, cl client.Client, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := cl.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
}

func namespace(t *testing.T, cl client.Client) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	create(t, cl, ns)
	await(t, "the namespace's ServiceAccount", func(ctx context.Context) error {
		return cl.Get(ctx, client.ObjectKey{Namespace: ns.Name, Name: "default"}, &corev1.ServiceAccount{})
	})
	return ns.Name
}

func podTemplate(app string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/" + app + ":1"}}},
	}
}

func statefulSet(ns, name string, replicas int32) *appsv1.StatefulSet {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name},
		Spec: appsv1.StatefulSetSpec{Replicas: &replicas, Selector: selector, Template: podTemplate(name), VolumeClaimTemplates: []corev1.PersistentVolumeClaim{{
			ObjectMeta: metav1.ObjectMeta{Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			},
		}}},
	}
}

func TestControlPlane(t *testing.T) { //nolint:tparallel // the subtests share a cluster, other tests want the machine for themselves
	c := startCluster(t, trial.LevelControlPlane)
	cl := newClient(t, c)
	t.Run("a StatefulSet gets ready, with volumes that are bound and grow", func(t *testing.T) {
		t.Parallel()
		ns := namespace(t, cl)
		sts := statefulSet(ns, "db", 3)
		create(t, cl, sts)
		await(t, "a ready StatefulSet", func(ctx context.Context) error {
			if err := cl.Get(ctx, client.ObjectKeyFromObject(sts), sts); err != nil {
				return err
			}
			return want(sts.Status.ReadyReplicas == 3, "ready replicas: %d", sts.Status.ReadyReplicas)
		})
		claim := &corev1.PersistentVolumeClaim{}
		key := client.ObjectKey{Namespace: ns, Name: "data-db-0"}
		if err := cl.Get(t.Context(), key, claim); err != nil || claim.Status.Phase != corev1.ClaimBound {
			t.Fatalf("the claim of a ready pod is %q, %v", claim.Status.Phase, err)
		}
		claim.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
		if err := cl.Update(t.Context(), claim); err != nil {
			t.Fatal(err)
		}
		await(t, "a larger volume", func(ctx context.Context) error {
			if err := cl.Get(ctx, key, claim); err != nil {
				return err
			}
			return want(claim.Status.Capacity.Storage().String() == "2Gi", "capacity: %v", claim.Status.Capacity)
		})
		volume := claim.Spec.VolumeName
		if err := cl.Delete(t.Context(), sts); err != nil {
			t.Fatal(err)
		}
		if err := cl.DeleteAllOf(t.Context(), claim, client.InNamespace(ns)); err != nil {
			t.Fatal(err)
		}
		await(t, "the end of the volume", func(ctx context.Context) error {
			return gone(cl.Get(ctx, client.ObjectKey{Name: volume}, &corev1.PersistentVolume{}))
		})
	})
	t.Run("a Job completes", func(t *testing.T) {
		t.Parallel()
		ns := namespace(t, cl)
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "once"}, Spec: batchv1.JobSpec{Template: podTemplate("once")}}
		job.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
		create(t, cl, job)
		await(t, "a complete Job", func(ctx context.Context) error {
			if err := cl.Get(ctx, client.ObjectKeyFromObject(job), job); err != nil {
				return err
			}
			return want(job.Status.Succeeded == 1 && job.Status.CompletionTime != nil, "status: %+v", job.Status)
		})
	})
	t.Run("a deleted namespace goes away with what is in it", func(t *testing.T) {
		t.Parallel()
		ns := namespace(t, cl)
		create(t, cl, statefulSet(ns, "db", 1), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "a"}})
		if err := cl.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
			t.Fatal(err)
		}
		await(t, "the end of the namespace", func(ctx context.Context) error {
			return gone(cl.Get(ctx, client.ObjectKey{Name: ns}, &corev1.Namespace{}))
		})
	})
	t.Run("what a resource of a new kind owns is collected, and well within the collector's 30s", func(t *testing.T) {
		ns := namespace(t, cl)
		owner := custom(t, c, cl, ns)
		child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "child", OwnerReferences: []metav1.OwnerReference{{
			APIVersion: owner.GetAPIVersion(), Kind: owner.GetKind(), Name: owner.GetName(), UID: owner.GetUID(), BlockOwnerDeletion: new(true), Controller: new(true),
		}}}}
		create(t, cl, child)
		started := time.Now()
		if err := cl.Delete(t.Context(), owner); err != nil {
			t.Fatal(err)
		}
		await(t, "the end of the child", func(ctx context.Context) error {
			return gone(cl.Get(ctx, client.ObjectKeyFromObject(child), &corev1.ConfigMap{}))
		})
		if took := time.Since(started); took > 15*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

// custom installs a CRD and returns a resource of it.
func custom(t *testing.T, c *Cluster, cl client.Client, ns string) *unstructured.Unstructured {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "owners.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Owner", Plural: "owners"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
	create(t, cl, crd)
	owner := &unstructured.Unstructured{}
	owner.SetAPIVersion("example.com/v1")
	owner.SetKind("Owner")
	owner.SetNamespace(ns)
	owner.SetName("owner")
	await(t, "the new kind", func(ctx context.Context) error { return cl.Create(ctx, owner) })
	if err := c.CRDsInstalled(t.Context()); err != nil {
		t.Fatal(err)
	}
	return owner
}

func want(holds bool, format string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func gone(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		return errors.New("still there")
	}
	return err
}

func TestPodsFollowTheirScripts(t *testing.T) {
	c := startCluster(t, trial.LevelControlPlane)
	cl := newClient(t, c)
	ns := namespace(t, cl)
	pod := func(ctx context.Context) (*corev1.Pod, error) {
		p := &corev1.Pod{}
		return p, cl.Get(ctx, client.ObjectKey{Namespace: ns, Name: "app"}, p)
	}
	script := func(s podlife.Script) {
		t.Helper()
		s.Name, s.Pods, s.Namespace = "test", "ap*", ns
		if err := c.SetPodLife(t.Context(), []podlife.Script{s}); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(what string, holds func(p *corev1.Pod) bool) {
		t.Helper()
		await(t, what, func(ctx context.Context) error {
			p, err := pod(ctx)
			if err != nil {
				return err
			}
			return want(holds(p), "phase %s, conditions %+v, containers %+v", p.Status.Phase, p.Status.Conditions, p.Status.ContainerStatuses)
		})
	}
	script(podlife.Script{Behaviour: podlife.ImagePullFailure})
	template := podTemplate("app")
	create(t, cl, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "app"}, Spec: template.Spec})
	expect("a pod that waits for its image", func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodPending && waiting(p) == "ImagePullBackOff" && !ready(p)
	})
	script(podlife.Script{Behaviour: podlife.NeverReady})
	expect("a pod that runs and is not ready", func(p *corev1.Pod) bool {
		return p.Status.Phase == corev1.PodRunning && p.Status.PodIP != "" && running(p) && !ready(p)
	})
	script(podlife.Script{Behaviour: podlife.Ready})
	expect("a pod that is ready", func(p *corev1.Pod) bool { return running(p) && ready(p) && p.Status.ContainerStatuses[0].Ready })
	script(podlife.Script{Behaviour: podlife.CrashLoop})
	expect("a pod that crashed more than once", func(p *corev1.Pod) bool {
		return waiting(p) == "CrashLoopBackOff" && p.Status.ContainerStatuses[0].RestartCount >= 2 && !ready(p) &&
			p.Status.ContainerStatuses[0].LastTerminationState.Terminated != nil
	})
	script(podlife.Script{Behaviour: podlife.ReadyThenFail, FailAfter: time.Second})
	expect("a pod that gets ready", ready)
	expect("and fails", func(p *corev1.Pod) bool { return running(p) && !ready(p) })
	if err := c.SetPodLife(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	expect("and gets ready once there is no script", ready)
	if err := cl.Delete(t.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "app"}}); err != nil {
		t.Fatal(err)
	}
	await(t, "the end of the pod", func(ctx context.Context) error {
		_, err := pod(ctx)
		return gone(err)
	})
}

func ready(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

func running(p *corev1.Pod) bool {
	return len(p.Status.ContainerStatuses) == 1 && p.Status.ContainerStatuses[0].State.Running != nil
}

func waiting(p *corev1.Pod) string {
	if len(p.Status.ContainerStatuses) != 1 || p.Status.ContainerStatuses[0].State.Waiting == nil {
		return ""
	}
	return p.Status.ContainerStatuses[0].State.Waiting.Reason
}
