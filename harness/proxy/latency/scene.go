package latency

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// scene is what a measurement needs in the cluster: the ConfigMap, and a
// ServiceAccount that may read it, for a proxy passes tokens on and no client
// certificates.
type scene struct {
	admin     kubernetes.Interface
	namespace string
	name      string
	config    *rest.Config
}

// namespace is there in every cluster.
const namespace = "default"

// removeWithin is how long removing the scene may take.
const removeWithin = 10 * time.Second

func prepare(ctx context.Context, o Options) (*scene, error) {
	admin, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	s := &scene{admin: admin, namespace: namespace}
	if err := s.create(ctx, o); err != nil {
		return nil, s.remove(ctx, err)
	}
	return s, nil
}

func (s *scene) create(ctx context.Context, o Options) error {
	wanted, err := configMap(o.Bytes)
	if err != nil {
		return err
	}
	object, err := s.admin.CoreV1().ConfigMaps(namespace).Create(ctx, wanted, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating a ConfigMap: %w", err)
	}
	s.name = object.Name
	meta := metav1.ObjectMeta{Name: s.name, Namespace: namespace}
	account := &corev1.ServiceAccount{ObjectMeta: meta}
	if _, err := s.admin.CoreV1().ServiceAccounts(namespace).Create(ctx, account, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating a ServiceAccount: %w", err)
	}
	role := &rbacv1.Role{ObjectMeta: meta, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get"}},
	}}
	if _, err := s.admin.RbacV1().Roles(namespace).Create(ctx, role, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating a Role: %w", err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: s.name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: s.name}},
	}
	if _, err := s.admin.RbacV1().RoleBindings(namespace).Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating a RoleBinding: %w", err)
	}
	token, err := s.admin.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, s.name,
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("asking for a token: %w", err)
	}
	s.config = rest.AnonymousClientConfig(o.Config)
	s.config.BearerToken = token.Status.Token
	s.config.QPS = -1
	return nil
}

// configMap returns one that is so many bytes long as JSON, roughly: the API
// server adds fields of its own.
func configMap(size int) (*corev1.ConfigMap, error) {
	const added = 400 // uid, times and managedFields
	c := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "seatrial-latency-"},
		Data:       map[string]string{"filling": ""},
	}
	empty, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("measuring a ConfigMap: %w", err)
	}
	c.Data["filling"] = strings.Repeat("x", max(0, size-len(empty)-added))
	return c, nil
}

// remove removes what was created, and returns the error of that together
// with the one that led to it.
func (s *scene) remove(ctx context.Context, cause error) error {
	if s.name == "" {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	var none metav1.DeleteOptions
	errs := []error{cause}
	for what, remove := range map[string]func() error{
		"ConfigMap":      func() error { return s.admin.CoreV1().ConfigMaps(namespace).Delete(ctx, s.name, none) },
		"ServiceAccount": func() error { return s.admin.CoreV1().ServiceAccounts(namespace).Delete(ctx, s.name, none) },
		"Role":           func() error { return s.admin.RbacV1().Roles(namespace).Delete(ctx, s.name, none) },
		"RoleBinding":    func() error { return s.admin.RbacV1().RoleBindings(namespace).Delete(ctx, s.name, none) },
	} {
		if err := remove(); err != nil && cause == nil {
			errs = append(errs, fmt.Errorf("removing a %s: %w", what, err))
		}
	}
	return errors.Join(errs...)
}
