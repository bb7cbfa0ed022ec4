package engine

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/seatrial/seatrial/harness/trial"
)

// The variables that commands and environments of a subject file may use.
const (
	// VarWorkDir is a directory of the trial's own.
	VarWorkDir = "WORKDIR"
	// VarKubeconfig is a file that leads to the API server through the proxy,
	// as the subject's ServiceAccount.
	VarKubeconfig = "KUBECONFIG"
	// VarNamespace is the namespace of the subject's ServiceAccount.
	VarNamespace = "NAMESPACE"
	// VarWebhookPort is the port to serve webhooks on.
	VarWebhookPort = "WEBHOOK_PORT"
	// VarWebhookCertDir is where tls.crt and tls.key for them are.
	VarWebhookCertDir = "WEBHOOK_CERT_DIR"
)

var variable = regexp.MustCompile(`\$\$|\$\(([A-Za-z_][A-Za-z0-9_]*)\)`)

// expand replaces each $(NAME) by its value; $$ stands for one dollar sign, as
// in a pod's command. A name that is not known is an error that lists those
// that are.
func expand(field, text string, values map[string]string) (string, error) {
	var unknown string
	expanded := variable.ReplaceAllStringFunc(text, func(match string) string {
		if match == "$$" {
			return "$"
		}
		name := match[2 : len(match)-1]
		value, ok := values[name]
		if !ok {
			unknown = name
		}
		return value
	})
	if unknown != "" {
		return "", inputErrorf("%s: unknown variable $(%s): known are %s",
			field, unknown, strings.Join(slices.Sorted(maps.Keys(values)), ", "))
	}
	return expanded, nil
}

func expandAll(field string, texts []string, values map[string]string) ([]string, error) {
	expanded := make([]string, 0, len(texts))
	for i, text := range texts {
		e, err := expand(fmt.Sprintf("%s[%d]", field, i), text, values)
		if err != nil {
			return nil, err
		}
		expanded = append(expanded, e)
	}
	return expanded, nil
}

func expandEnv(field string, env []trial.EnvVar, values map[string]string) ([]string, error) {
	expanded := make([]string, 0, len(env))
	for _, v := range env {
		e, err := expand(field+"."+v.Name, v.Value, values)
		if err != nil {
			return nil, err
		}
		expanded = append(expanded, v.Name+"="+e)
	}
	return expanded, nil
}
