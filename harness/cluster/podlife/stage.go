package podlife

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"time"
)

//go:embed stages.yaml.tmpl
var stagesTemplate string

// pods is what the template needs of one script.
type pods struct {
	Script
	// Selector is a jq expression that tells whether the script counts for a
	// pod, as YAML.
	Selector string
}

// Stages returns the KWOK stages, as YAML documents, that make pods live by
// the scripts, and by default otherwise. Every stage is chosen by the state
// that a pod is in, so that pods which run already follow new scripts.
func Stages(scripts []Script) ([]byte, error) {
	if err := Validate(scripts); err != nil {
		return nil, err
	}
	all := make([]pods, 0, len(scripts)+1)
	var earlier []string
	for _, s := range append(slices.Clone(scripts), Script{Name: "default"}) {
		if s.Behaviour == "" {
			s.Behaviour = Ready
		}
		own := s.selector()
		all = append(all, pods{Script: s, Selector: quote(strings.Join(append(slices.Clone(earlier), own), " and "))})
		earlier = append(earlier, "("+own+" | not)")
	}
	t, err := template.New("stages").Funcs(template.FuncMap{"milliseconds": time.Duration.Milliseconds}).
		Delims("[[", "]]").Parse(stagesTemplate)
	if err != nil {
		return nil, fmt.Errorf("reading the template of stages: %w", err)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, all); err != nil {
		return nil, fmt.Errorf("writing stages: %w", err)
	}
	return bytes.TrimPrefix(out.Bytes(), []byte("\n---\n")), nil
}

// selector returns the jq expression that tells whether the script selects a
// pod, whatever the other scripts do.
func (s Script) selector() string {
	terms := []string{"true"}
	if s.Namespace != "" {
		terms = append(terms, ".metadata.namespace == "+quote(s.Namespace))
	}
	if s.Pods != "" {
		terms = append(terms, "(.metadata.name | test("+quote(globToRegexp(s.Pods))+"))")
	}
	for _, key := range slices.Sorted(maps.Keys(s.Labels)) {
		terms = append(terms, "(.metadata.labels // {})["+quote(key)+"] == "+quote(s.Labels[key]))
	}
	return "(" + strings.Join(terms, " and ") + ")"
}

func globToRegexp(glob string) string {
	parts := strings.Split(glob, "*")
	for i := range parts {
		parts[i] = regexp.QuoteMeta(parts[i])
	}
	return "^" + strings.Join(parts, ".*") + "$"
}

// quote returns text as a string of JSON, which jq and YAML read as well.
func quote(text string) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) //nolint:errchkjson // a string always encodes
	return strings.TrimSuffix(out.String(), "\n")
}
