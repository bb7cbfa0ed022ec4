package webhook

import (
	"encoding/json"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

func TestReattach(t *testing.T) {
	data := func(value string) map[string]string {
		return map[string]string{redisv1.AnnotationConversionData: value}
	}
	both := map[string]string{redisv1.AnnotationConversionData: "a", "note": "mine"}
	tests := map[string]struct{ before, after, want map[string]string }{
		"all annotations were dropped": {data("a"), nil, data("a")},
		"it alone was dropped":         {data("a"), map[string]string{"note": "mine"}, both},
		"it was kept":                  {data("a"), both, both},
		"an old one was brought back":  {data("a"), data("old"), data("a")},
		"one came that was not there":  {nil, both, map[string]string{"note": "mine"}},
		"there never was one":          {nil, nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			response := Reattacher{}.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
				Operation: admissionv1.Update,
				OldObject: runtime.RawExtension{Raw: encode(t, tc.before)},
				Object:    runtime.RawExtension{Raw: encode(t, tc.after)},
			}})
			if !response.Allowed {
				t.Fatalf("refused: %v", response.Result)
			}
			encoded, err := json.Marshal(response.Patches)
			if err != nil {
				t.Fatal(err)
			}
			patch, err := jsonpatch.DecodePatch(encoded)
			if err != nil {
				t.Fatal(err)
			}
			patched, err := patch.Apply(encode(t, tc.after))
			if err != nil {
				t.Fatal(err)
			}
			var got metav1.PartialObjectMetadata
			if err := json.Unmarshal(patched, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReattachLeavesOtherOperationsAlone(t *testing.T) {
	response := Reattacher{}.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Create,
	}})
	if !response.Allowed || len(response.Patches) > 0 {
		t.Errorf("a creation got %+v", response)
	}
	response = Reattacher{}.Handle(t.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Operation: admissionv1.Update, OldObject: runtime.RawExtension{Raw: []byte("{")},
	}})
	if response.Allowed {
		t.Error("what cannot be read was allowed")
	}
}

func encode(t *testing.T, annotations map[string]string) []byte {
	t.Helper()
	encoded, err := json.Marshal(metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Annotations: annotations}})
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}
