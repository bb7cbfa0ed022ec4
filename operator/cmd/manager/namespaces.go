package main

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// namespaces is a flag that takes names of namespaces, with commas or repeated.
type namespaces []string

// String is the names with commas.
func (n *namespaces) String() string { return strings.Join(*n, ",") }

// Set adds names.
func (n *namespaces) Set(value string) error {
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Errorf("%q is not the name of a namespace: %s", name, problems[0])
		}
		if !slices.Contains(*n, name) {
			*n = append(*n, name)
		}
	}
	return nil
}
