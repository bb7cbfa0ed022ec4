package subject

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/seatrial/seatrial/harness/manifest"
	"github.com/seatrial/seatrial/harness/trial"
)

// builtIn reports whether Kubernetes itself serves the API group.
func builtIn(group string) bool {
	return group == "" || !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}

// resolveAccount finds out who the operator is to the API server and leaves
// out the workloads that would run it a second time.
func (r *Resolved) resolveAccount() error {
	if err := r.chooseAccount(); err != nil {
		return err
	}
	var kept []manifest.Object
	for _, o := range r.Manifests {
		if r.runsSubject(o) {
			r.LeftOut = append(r.LeftOut, o)
			r.inferf("%s %s/%s of the manifests is left out: the operator runs as a process of the trial",
				o.GetKind(), o.GetNamespace(), o.GetName())
			continue
		}
		kept = append(kept, o)
	}
	r.Manifests = kept
	return nil
}

func (r *Resolved) chooseAccount() error {
	accounts := r.accounts()
	if want := r.Spec.ServiceAccount; want != nil {
		r.Account = *want
		if !slices.Contains(accounts, *want) {
			return fmt.Errorf("spec.serviceAccount: the manifests hold no ServiceAccount %s/%s", want.Namespace, want.Name)
		}
		return nil
	}
	switch len(accounts) {
	case 1:
		r.Account = accounts[0]
		r.inferf("serviceAccount is %s/%s, the only one in the manifests", r.Account.Namespace, r.Account.Name)
		return nil
	case 0:
		return errors.New("spec.serviceAccount is not set and the manifests hold no ServiceAccount: " +
			"name the manifests that the operator ships its RBAC in")
	default:
		return fmt.Errorf("spec.serviceAccount must be set: the manifests hold %d ServiceAccounts", len(accounts))
	}
}

func (r *Resolved) accounts() []trial.ServiceAccountRef {
	var accounts []trial.ServiceAccountRef
	for _, o := range r.Manifests {
		if o.GetKind() == "ServiceAccount" && o.GroupVersionKind().Group == "" {
			accounts = append(accounts, trial.ServiceAccountRef{Namespace: namespaceOr(o, "default"), Name: o.GetName()})
		}
	}
	return accounts
}

// runsSubject reports whether o is a workload whose pods run as the subject's
// ServiceAccount.
func (r *Resolved) runsSubject(o manifest.Object) bool {
	if o.GroupVersionKind().Group != "apps" {
		return false
	}
	account, found, err := unstructured.NestedString(o.Object, "spec", "template", "spec", "serviceAccountName")
	return err == nil && found && account == r.Account.Name && namespaceOr(o, "default") == r.Account.Namespace
}

func namespaceOr(o manifest.Object, fallback string) string {
	if ns := o.GetNamespace(); ns != "" {
		return ns
	}
	return fallback
}
