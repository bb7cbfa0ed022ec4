package oracle_test

import (
	"testing"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/internal/historytest"
	"github.com/seatrial/seatrial/harness/oracle"
	"github.com/seatrial/seatrial/harness/trial"
)

const mayNot = `configmaps "c" is forbidden: User "x" cannot create resource "configmaps" in API group "" in the namespace "trial"`

func TestForbiddenRequests(t *testing.T) {
	config := historytest.ConfigMap("c")
	whole := func(tell func(s *historytest.Story)) func(s *historytest.Story) {
		return func(s *historytest.Story) {
			s.Starts()
			tell(s)
			s.Rests(nil).Stops()
		}
	}
	judge(t, oracle.ForbiddenRequests, map[string]judged{
		"an operator that is granted everything": {
			tell: whole(func(s *historytest.Story) { s.Puts(s.Creates(config)) }),
		},
		"one refusal, as often as it was tried": {
			tell: whole(func(s *historytest.Story) {
				s.Fails(history.VerbCreate, config, 403, mayNot)
				s.Fails(history.VerbCreate, config, 403, mayNot)
			}),
			want: []string{"may not create configmaps in namespace trial: refused twice"},
			hint: `add to its Role in trial (or to its ClusterRole): {apiGroups: [""], resources: ["configmaps"], verbs: ["create"]}`,
		},
		"two verbs on one resource are one missing rule": {
			tell: whole(func(s *historytest.Story) {
				s.Fails(history.VerbPatch, config, 403, mayNot)
				s.Fails(history.VerbCreate, config, 403, mayNot)
			}),
			want: []string{"may not create, patch configmaps in namespace trial: refused twice"},
			hint: `verbs: ["create", "patch"]`,
		},
		"a list across the cluster whose answer was not kept": {
			tell: whole(func(s *historytest.Story) {
				s.Asks(history.Request{Verb: history.VerbList, Version: "v1", Resource: "secrets", Response: history.Response{Code: 403}})
			}),
			want: []string{"may not list secrets across the cluster: refused once"},
			hint: `add to its ClusterRole: {apiGroups: [""], resources: ["secrets"], verbs: ["list"]}`,
		},
		"the same in a namespace and across the cluster are two": {
			tell: whole(func(s *historytest.Story) {
				s.Asks(history.Request{Verb: history.VerbList, Resource: "secrets", Response: history.Response{Code: 403}})
				s.Asks(history.Request{Verb: history.VerbList, Resource: "secrets", Namespace: "trial", Response: history.Response{Code: 403}})
			}),
			want: []string{
				"may not list secrets across the cluster: refused once",
				"may not list secrets in namespace trial: refused once",
			},
		},
		"a subresource": {
			tell: whole(func(s *historytest.Story) {
				s.Fails(history.VerbUpdate, historytest.Widget("w"), 403, "widgets/status cannot update", historytest.Status)
			}),
			want: []string{"may not update widgets/status.fixtures.example.com in namespace trial: refused once"},
			hint: `resources: ["widgets/status"]`,
		},
		"a path that is no resource": {
			tell: whole(func(s *historytest.Story) {
				s.Asks(history.Request{Verb: history.VerbOther, Method: "GET", Path: "/metrics?x=1", Response: history.Response{Code: 403}})
			}),
			want: []string{"may not get /metrics: refused once"},
			hint: `{nonResourceURLs: ["/metrics"], verbs: ["get"]}`,
		},
		"an owner reference that may not block": {
			tell: whole(func(s *historytest.Story) {
				s.Fails(history.VerbCreate, config, 403, `configmaps "c" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>`)
			}),
			want: []string{"may not set blockOwnerDeletion in owner references of configmaps: refused once"},
			hint: `"finalizers"`,
		},
		"rights that the operator lacks itself": {
			tell: whole(func(s *historytest.Story) {
				s.Fails(history.VerbCreate, historytest.New("rbac.authorization.k8s.io", "v1", "roles", "Role", "trial", "r"), 403,
					`roles "r" is forbidden: user "x" (groups=[]) is attempting to grant RBAC permissions not currently held:`)
			}),
			want: []string{"may not grant rights that it lacks itself, in roles.rbac.authorization.k8s.io: refused once"},
		},
		"a token review": {
			tell: whole(func(s *historytest.Story) {
				s.Asks(history.Request{Verb: history.VerbCreate, Group: "authentication.k8s.io", Resource: "tokenreviews", Response: history.Response{Code: 403}})
			}),
			want: []string{"may not create tokenreviews.authentication.k8s.io across the cluster: refused once"},
			hint: "system:auth-delegator",
		},
		"a question about its own rights": {
			tell: whole(func(s *historytest.Story) {
				s.Asks(history.Request{Verb: history.VerbCreate, Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews", Response: history.Response{Code: 403}})
			}),
		},
		"a namespace that is being deleted": {
			tell: whole(func(s *historytest.Story) {
				s.Fails(history.VerbCreate, config, 403, `configmaps "c" is forbidden: unable to create new content in namespace trial because it is being terminated`)
			}),
		},
		"a quota": {
			tell: whole(func(s *historytest.Story) {
				s.Fails(history.VerbCreate, config, 403, `configmaps "c" is forbidden: exceeded quota: q`)
			}),
		},
		"a rule that had not reached the authorizer yet": {
			tell: whole(func(s *historytest.Story) {
				s.Fails(history.VerbCreate, config, 403, mayNot)
				s.Creates(config)
			}),
		},
		"one object of two is granted": {
			tell: whole(func(s *historytest.Story) {
				s.Fails(history.VerbCreate, historytest.ConfigMap("other"), 403, mayNot)
				s.Creates(config)
			}),
			want: []string{"may not create configmaps in namespace trial: refused once"},
		},
		"one object of two is granted, named in the body only": {
			tell: whole(func(s *historytest.Story) {
				s.Fails(history.VerbCreate, historytest.ConfigMap("other"), 403, mayNot, historytest.Generated)
				s.Creates(config, historytest.Generated)
			}),
			want: []string{"may not create configmaps in namespace trial: refused once"},
		},
		"requests of somebody else": {
			tell: whole(func(s *historytest.Story) {
				s.Fails(history.VerbCreate, config, 403, mayNot, historytest.By("system:anonymous"))
			}),
		},
		"a resource that the subject file leaves out": {
			tell:    whole(func(s *historytest.Story) { s.Fails(history.VerbCreate, config, 403, mayNot) }),
			options: trial.CheckOptions{Ignore: []string{"configmaps"}},
		},
		"a trial that ended early, without a refusal": {
			tell:    func(s *historytest.Story) { s.Starts().Stops() },
			unclear: "before the operator had been watched at rest",
		},
		"a trial that ended early, after a refusal": {
			tell: func(s *historytest.Story) {
				s.Starts()
				s.Fails(history.VerbCreate, config, 403, mayNot)
			},
			want: []string{"may not create configmaps in namespace trial: refused once"},
		},
	})
}
