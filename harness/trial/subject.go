package trial

// The header of a subject file.
const (
	SubjectAPIVersion = "seatrial.dev/v1alpha1"
	SubjectKind       = "Operator"
)

// Subject is the operator under test, as its subject file describes it.
// Package subject reads it strictly and fills in what can be inferred.
type Subject struct {
	APIVersion string          `json:"apiVersion" yaml:"apiVersion"`
	Kind       string          `json:"kind" yaml:"kind"`
	Metadata   SubjectMetadata `json:"metadata" yaml:"metadata"`
	Spec       SubjectSpec     `json:"spec" yaml:"spec"`
}

// SubjectMetadata names a subject.
type SubjectMetadata struct {
	// Name stands in reports and in the names of what the trial makes. A DNS
	// label; required.
	Name string `json:"name" yaml:"name"`
}

// SubjectSpec says how the operator is built, installed, started and used.
// Paths are relative to the directory of the subject file. Commands, their
// environment and paths inside them may use $(NAME) for the variables that
// docs/guide/subject.md lists.
type SubjectSpec struct {
	// CRDs are files or directories of CustomResourceDefinitions. Required.
	CRDs []string `json:"crds" yaml:"crds"`
	// Manifests are files, directories or kustomizations that are applied
	// before the operator starts: RBAC, ServiceAccount, configuration.
	Manifests []string `json:"manifests,omitempty" yaml:"manifests,omitempty"`
	// ServiceAccount is who the operator is to the API server. Inferred from
	// the manifests when they hold exactly one.
	ServiceAccount *ServiceAccountRef `json:"serviceAccount,omitempty" yaml:"serviceAccount,omitempty"`
	// Build makes the operator's program before the trial. Optional.
	Build *Build `json:"build,omitempty" yaml:"build,omitempty"`
	// Command starts the operator: the program and its arguments. Required.
	Command []string `json:"command" yaml:"command"`
	// Env is added to the operator's environment, after the harness's own.
	Env []EnvVar `json:"env,omitempty" yaml:"env,omitempty"`
	// Webhooks says where the operator serves admission and conversion.
	Webhooks *Webhooks `json:"webhooks,omitempty" yaml:"webhooks,omitempty"`
	// Samples are files or directories of custom resources to apply.
	Samples []string `json:"samples,omitempty" yaml:"samples,omitempty"`
	// Ready says when a sample has reached what its author wanted. Inferred:
	// a condition named Ready, Available or Succeeded, else a quiet API.
	Ready *Ready `json:"ready,omitempty" yaml:"ready,omitempty"`
	// Checks sets options of checks, or leaves one out, each with a reason.
	Checks []CheckOptions `json:"checks,omitempty" yaml:"checks,omitempty"`
}

// ServiceAccountRef names a ServiceAccount.
type ServiceAccountRef struct {
	Namespace string `json:"namespace" yaml:"namespace"`
	Name      string `json:"name" yaml:"name"`
}

// Build is a command that makes the operator's program.
type Build struct {
	// Command is the program and its arguments.
	Command []string `json:"command" yaml:"command"`
	// Directory is where it runs; default: the subject file's directory.
	Directory string `json:"directory,omitempty" yaml:"directory,omitempty"`
	// Env is added to the environment of the build.
	Env []EnvVar `json:"env,omitempty" yaml:"env,omitempty"`
}

// EnvVar is one variable of an environment.
type EnvVar struct {
	Name  string `json:"name" yaml:"name"`
	Value string `json:"value" yaml:"value"`
}

// Webhooks says where the operator serves its webhooks. The harness makes the
// serving certificate and points the cluster's webhook configurations there.
type Webhooks struct {
	// Port on loopback; 0 picks a free one, available as $(WEBHOOK_PORT).
	Port int `json:"port,omitempty" yaml:"port,omitempty"`
	// CertDir is where tls.crt and tls.key are written before the start;
	// default: a directory of the trial's own, available as
	// $(WEBHOOK_CERT_DIR).
	CertDir string `json:"certDir,omitempty" yaml:"certDir,omitempty"`
}

// Ready is one of: a condition that must be True, or a CEL expression.
type Ready struct {
	// Condition is the type of a condition in status.conditions.
	Condition string `json:"condition,omitempty" yaml:"condition,omitempty"`
	// CEL is an expression over self, the custom resource, that yields a bool.
	CEL string `json:"cel,omitempty" yaml:"cel,omitempty"`
}

// CheckOptions adapts one check to a subject.
type CheckOptions struct {
	// ID of the check.
	ID string `json:"id" yaml:"id"`
	// Skip leaves the check out; it is reported as skipped.
	Skip bool `json:"skip,omitempty" yaml:"skip,omitempty"`
	// Ignore lists resources ("leases.coordination.k8s.io") whose requests
	// and objects the check does not look at.
	Ignore []string `json:"ignore,omitempty" yaml:"ignore,omitempty"`
	// Reason says why. Required.
	Reason string `json:"reason" yaml:"reason"`
}
