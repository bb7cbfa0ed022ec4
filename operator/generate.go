// Package operator holds the commands that generate what is made from the
// operator's types and markers: deep copies, apply configurations, the CRD,
// RBAC and webhook configurations. Run them by `go generate ./operator`; never edit what they write.
package operator

//go:generate go tool -modfile=../go.tools.mod controller-gen object crd applyconfiguration paths=./api/... output:crd:artifacts:config=config/crd/bases
//go:generate go tool -modfile=../go.tools.mod controller-gen rbac:roleName=rediscluster-operator paths=./internal/...;./cmd/... output:rbac:artifacts:config=config/rbac
//go:generate go tool -modfile=../go.tools.mod controller-gen webhook paths=./internal/webhook/... output:webhook:artifacts:config=config/webhook
