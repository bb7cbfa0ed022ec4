package operator_test

import (
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// build builds a kustomization and decodes each object into its own type,
// strictly.
func build(t *testing.T, dir string) []runtime.Object {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	known := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(known); err != nil {
			t.Fatal(err)
		}
	}
	var objects []runtime.Object
	for _, r := range built.Resources() {
		content, err := r.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		gvk := r.GetGvk()
		object, err := known.New(schema.GroupVersionKind{Group: gvk.Group, Version: gvk.Version, Kind: gvk.Kind})
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(content, object); err != nil {
			t.Fatalf("%s %s: %v", gvk.Kind, r.GetName(), err)
		}
		objects = append(objects, object)
	}
	return objects
}

func one[T runtime.Object](t *testing.T, objects []runtime.Object) T {
	t.Helper()
	var found []T
	for _, o := range objects {
		if typed, ok := o.(T); ok {
			found = append(found, typed)
		}
	}
	if len(found) != 1 {
		t.Fatalf("found %d objects of type %T, want one", len(found), *new(T))
	}
	return found[0]
}

func TestInstallationHangsTogether(t *testing.T) {
	objects := build(t, "config/default")
	one[*apiextensionsv1.CustomResourceDefinition](t, objects)
	namespace := one[*corev1.Namespace](t, objects)
	account := one[*corev1.ServiceAccount](t, objects)
	deployment := one[*appsv1.Deployment](t, objects)
	if account.Namespace != namespace.Name || deployment.Namespace != namespace.Name {
		t.Errorf("ServiceAccount in %s, Deployment in %s, want %s", account.Namespace, deployment.Namespace, namespace.Name)
	}
	if got := deployment.Spec.Template.Spec.ServiceAccountName; got != account.Name {
		t.Errorf("the pods run as %s, want %s", got, account.Name)
	}
	subject := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: account.Namespace, Name: account.Name}}
	everywhere := one[*rbacv1.ClusterRoleBinding](t, objects)
	if role := one[*rbacv1.ClusterRole](t, objects); everywhere.RoleRef.Name != role.Name || !slices.Equal(everywhere.Subjects, subject) {
		t.Errorf("ClusterRoleBinding gives %s to %v", everywhere.RoleRef.Name, everywhere.Subjects)
	}
	home := one[*rbacv1.RoleBinding](t, objects)
	if role := one[*rbacv1.Role](t, objects); home.RoleRef.Name != role.Name || !slices.Equal(home.Subjects, subject) {
		t.Errorf("RoleBinding gives %s to %v", home.RoleRef.Name, home.Subjects)
	}
}

func TestOperatorsPodIsRestricted(t *testing.T) {
	pod := one[*appsv1.Deployment](t, build(t, "config/default")).Spec.Template.Spec
	if pod.SecurityContext.RunAsNonRoot == nil || !*pod.SecurityContext.RunAsNonRoot {
		t.Error("the pod may run as root")
	}
	container := pod.Containers[0].SecurityContext
	if *container.AllowPrivilegeEscalation || !*container.ReadOnlyRootFilesystem ||
		!slices.Equal(container.Capabilities.Drop, []corev1.Capability{"ALL"}) {
		t.Errorf("the container's security context is %v", container)
	}
}
