package controller

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestLastingFailures(t *testing.T) {
	configMaps := schema.GroupResource{Resource: "configmaps"}
	conflict := fmt.Errorf("applying: %w", apierrors.NewConflict(configMaps, "demo", errors.New("modified")))
	refused := fmt.Errorf("applying: %w", apierrors.NewForbidden(configMaps, "demo", errors.New("quota")))
	tests := map[string]struct {
		failure error
		want    string
	}{
		"none":               {nil, ""},
		"a conflict":         {errors.Join(conflict), ""},
		"a refusal":          {errors.Join(refused), refused.Error()},
		"one of each":        {errors.Join(conflict, refused), refused.Error()},
		"not a joined error": {refused, refused.Error()},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := lasting(tc.failure)
			if tc.want == "" {
				if got != nil {
					t.Errorf("%v lasts", got)
				}
				return
			}
			if got == nil || got.Error() != tc.want {
				t.Errorf("got %v, want %s", got, tc.want)
			}
		})
	}
}
