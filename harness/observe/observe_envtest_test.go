//go:build envtest

package observe_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/internal/servertest"
	"github.com/seatrial/seatrial/harness/observe"
)

func TestARealAPIServer(t *testing.T) {
	config := servertest.Start(t)
	w := &watched{log: history.NewLog(nil, history.Header{}, time.Now)}
	w.told.L = &w.mu
	var err error
	begin := time.Now()
	w.Observer, err = observe.Start(t.Context(), observe.Options{Config: config, Recorder: w.log, OnChange: w.changed, Warn: w.warn})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop) // before the server, which waits for its watches
	t.Logf("started in %v, %d objects", time.Since(begin), len(w.log.History().Entries))
	t.Run("with an object that changes often", func(t *testing.T) { changeOften(t, config, w) })
	t.Run("with a definition that comes later", func(t *testing.T) { defineLater(t, config, w) })
	if w.warnings != nil {
		t.Errorf("warned %q", w.warnings)
	}
}

func changeOften(t *testing.T, config *rest.Config, w *watched) {
	t.Helper()
	maps := kubernetes.NewForConfigOrDie(config).CoreV1().ConfigMaps("default")
	created, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range 20 {
		created.Data = map[string]string{"i": fmt.Sprint(i)}
		if created, err = maps.Update(t.Context(), created, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		want = append(want, created.ResourceVersion)
	}
	begin := time.Now()
	w.sync(t)
	t.Logf("synced in %v", time.Since(begin))
	var got []string
	for _, c := range w.log.History().Changes() {
		if c.UID == string(created.UID) && c.Type == history.Modified {
			got = append(got, c.ResourceVersion)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got versions %v, want %v", got, want)
	}
	if err := maps.Delete(t.Context(), "c", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.sync(t)
	if _, there := w.log.History().Final()[string(created.UID)]; there {
		t.Error("the deletion was not recorded")
	}
}

func defineLater(t *testing.T, config *rest.Config, w *watched) {
	t.Helper()
	open := true
	_, err := envtest.InstallCRDs(config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{{
		ObjectMeta: metav1.ObjectMeta{Name: "clusters.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "clusters", Kind: "Cluster"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: &open,
				}},
			}},
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	clusters := dynamic.NewForConfigOrDie(config).Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "clusters"})
	cluster := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Cluster", "metadata": map[string]any{"name": "c"},
	}}
	created, err := clusters.Namespace("default").Create(t.Context(), cluster, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.sync(t)
	c, ok := w.log.History().Final()[string(created.GetUID())]
	if !ok || c.Existing || c.Kind != "Cluster" || c.ResourceVersion != created.GetResourceVersion() {
		t.Errorf("recorded %+v", c)
	}
}
