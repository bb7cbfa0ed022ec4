package subject

import (
	"strings"
	"testing"
)

const minimal = `apiVersion: seatrial.dev/v1alpha1
kind: Operator
metadata: {name: demo}
spec:
  crds: [crds]
  command: [demo]
`

func TestDecodeRefuses(t *testing.T) {
	tests := map[string]struct {
		content string
		want    string
	}{
		"an empty file":            {"", "is empty"},
		"a file of comments":       {"# nothing\n", "is empty"},
		"an unknown field":         {minimal + "  bulid: {command: [make]}\n", `line 7: unknown field "bulid"`},
		"an unknown nested field":  {minimal + "  ready: {conditoin: Ready}\n", `line 7: unknown field "conditoin"`},
		"a duplicate field":        {minimal + "  command: [other]\n", `line 7: mapping key "command" already defined at line 6`},
		"a second document":        {minimal + "---\nkind: Operator\n", "holds more than one document"},
		"a list instead of a word": {strings.Replace(minimal, "name: demo", "name: [demo]", 1), "line 3:"},
		"YAML that is not closed":  {"spec: [", "line 1:"},
		"another API version":      {strings.Replace(minimal, "v1alpha1", "v9", 1), `apiVersion must be "seatrial.dev/v1alpha1", not "seatrial.dev/v9"`},
		"another kind":             {strings.Replace(minimal, "Operator", "Deployment", 1), `kind must be "Operator", not "Deployment"`},
		"a name that is no label":  {strings.Replace(minimal, "name: demo", "name: Demo_1", 1), `metadata.name "Demo_1" must be a DNS label`},
		"no CRDs":                  {strings.Replace(minimal, "[crds]", "[]", 1), "spec.crds must name at least one"},
		"no command":               {strings.Replace(minimal, "[demo]\n", "[]\n", 1), "spec.command must name"},
		"a build without command":  {minimal + "  build: {}\n", "spec.build.command must name"},
		"half a ServiceAccount":    {minimal + "  serviceAccount: {name: a}\n", "spec.serviceAccount must have a namespace and a name"},
		"two rules of readiness":   {minimal + "  ready: {condition: Ready, cel: 'true'}\n", "either a condition or a cel expression"},
		"a port out of range":      {minimal + "  webhooks: {port: 70000}\n", "spec.webhooks.port 70000"},
		"a variable without name":  {minimal + "  env: [{value: x}]\n", `spec.env[0].name "" is not the name of a variable`},
		"an option without reason": {minimal + "  checks: [{id: quiescent, skip: true}]\n", "spec.checks[0] (quiescent): a reason must be given"},
		"options given twice": {
			minimal + "  checks: [{id: quiescent, reason: a}, {id: quiescent, reason: b}]\n",
			"options for quiescent are given twice",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := decodeStrict([]byte(tc.content))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got error %v, want one with %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "type trial.") {
				t.Errorf("error %q must be one line in the words of the file", err)
			}
		})
	}
}

func TestDecodeAcceptsTheMinimum(t *testing.T) {
	s, err := decodeStrict([]byte(minimal))
	if err != nil {
		t.Fatal(err)
	}
	if s.Metadata.Name != "demo" || s.Spec.Command[0] != "demo" {
		t.Errorf("got %+v", s)
	}
}
