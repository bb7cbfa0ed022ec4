package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/seatrial/seatrial/harness/cluster/local"
	"github.com/seatrial/seatrial/harness/trial"
)

// What is measured of clusters.
const (
	envtestStart     = "controller-runtime envtest: start"
	envtestStop      = "controller-runtime envtest: stop"
	apiserverStart   = "level apiserver: start"
	apiserverStop    = "level apiserver: stop"
	statefulSetReady = "level controlplane: start until a StatefulSet of 3 is Ready"
	controlPlaneStop = "level controlplane: stop"
)

type clusters struct {
	programs  local.Programs
	templates string
}

func (c *clusters) start(ctx context.Context, level trial.Level) (*local.Cluster, error) {
	return local.Start(ctx, local.Options{Level: level, Programs: c.programs, TemplateDir: c.templates})
}

// warm makes the templates, which users make once.
func (c *clusters) warm(ctx context.Context) error {
	for _, level := range []trial.Level{trial.LevelAPIServer, trial.LevelControlPlane} {
		started, err := c.start(ctx, level)
		if err != nil {
			return err
		}
		if err := started.Stop(ctx); err != nil {
			return err
		}
	}
	return nil
}

// envtest measures the plain tool on the same programs.
func (c *clusters) envtest(_ context.Context, s samples) error {
	env := &envtest.Environment{ControlPlane: envtest.ControlPlane{
		APIServer: &envtest.APIServer{Path: c.programs.APIServer}, Etcd: &envtest.Etcd{Path: c.programs.Etcd}, KubectlPath: c.programs.Kubectl,
	}}
	begin := time.Now()
	if _, err := env.Start(); err != nil {
		return fmt.Errorf("starting envtest: %w", err)
	}
	s.add(envtestStart, time.Since(begin))
	begin = time.Now()
	if err := env.Stop(); err != nil {
		return fmt.Errorf("stopping envtest: %w", err)
	}
	s.add(envtestStop, time.Since(begin))
	return nil
}

func (c *clusters) apiserver(ctx context.Context, s samples) error {
	begin := time.Now()
	started, err := c.start(ctx, trial.LevelAPIServer)
	if err != nil {
		return err
	}
	s.add(apiserverStart, time.Since(begin))
	return stop(ctx, started, apiserverStop, s)
}

func (c *clusters) controlPlane(ctx context.Context, s samples) error {
	begin := time.Now()
	started, err := c.start(ctx, trial.LevelControlPlane)
	if err != nil {
		return err
	}
	if err := readyStatefulSet(ctx, started); err != nil {
		return err
	}
	s.add(statefulSetReady, time.Since(begin))
	return stop(ctx, started, controlPlaneStop, s)
}

func stop(ctx context.Context, c *local.Cluster, what string, s samples) error {
	begin := time.Now()
	if err := c.Stop(ctx); err != nil {
		return err
	}
	s.add(what, time.Since(begin))
	return nil
}

// readyStatefulSet makes a StatefulSet of three pods and waits, by a watch,
// until they are ready.
func readyStatefulSet(ctx context.Context, c *local.Cluster) error {
	client, err := kubernetes.NewForConfig(c.Config())
	if err != nil {
		return err
	}
	sets := client.AppsV1().StatefulSets(metav1.NamespaceDefault)
	labels := map[string]string{"app": "bench"}
	_, err = sets.Create(ctx, &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Name: "bench"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: new(int32(3)), Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "bench"}}},
			},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	events, err := sets.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=bench"})
	if err != nil {
		return err
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		if set, ok := event.Object.(*appsv1.StatefulSet); ok && event.Type != watch.Deleted && set.Status.ReadyReplicas == 3 {
			return nil
		}
	}
	return fmt.Errorf("waiting for a ready StatefulSet: %w", context.Cause(ctx))
}
