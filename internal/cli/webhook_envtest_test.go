//go:build envtest

package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"
)

// operatorVariable makes the test binary play an operator that serves an
// admission webhook on the port that the variable names.
const operatorVariable = "SEATRIAL_TEST_OPERATOR"

func TestMain(m *testing.M) {
	if port := os.Getenv(operatorVariable); port != "" {
		if err := playOperator(port, os.Getenv("CERTS")); err != nil {
			fmt.Fprintln(os.Stdout, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// playOperator talks to the API server once, and refuses Widgets larger than
// three.
func playOperator(port, certs string) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	if _, err := client.ServerVersion(); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/validate", func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		var object struct{ Spec struct{ Size int } }
		if err := json.NewDecoder(r.Body).Decode(&review); err == nil {
			err = json.Unmarshal(review.Request.Object.Raw, &object)
			if err != nil {
				object.Spec.Size = 0
			}
		}
		review.Response = &admissionv1.AdmissionResponse{
			UID: review.Request.UID, Allowed: object.Spec.Size <= 3, Result: &metav1.Status{Message: "spec.size must be at most 3"},
		}
		_ = json.NewEncoder(w).Encode(review)
	})
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	served := make(chan error, 1)
	go func() {
		served <- http.ListenAndServeTLS("127.0.0.1:"+port, filepath.Join(certs, "tls.crt"), filepath.Join(certs, "tls.key"), mux)
	}()
	select {
	case err := <-served:
		return err
	case <-ended:
		return nil
	}
}

const webhooks = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: widgets}
webhooks:
- name: widgets.example.com
  clientConfig: {service: {namespace: demo, name: webhook, path: /validate}}
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [widgets]}]
  sideEffects: None
  admissionReviewVersions: [v1]
  failurePolicy: Fail
`

func webhookSubject(port, size int) map[string]string {
	return map[string]string{
		"webhooks.yaml": webhooks,
		"sample.yaml":   fmt.Sprintf("{apiVersion: example.com/v1, kind: Widget, metadata: {name: sample}, spec: {size: %d}}\n", size),
		"seatrial.yaml": fmt.Sprintf(`apiVersion: seatrial.dev/v1alpha1
kind: Operator
metadata: {name: demo}
spec:
  crds: [crd.yaml]
  manifests: [account.yaml, webhooks.yaml]
  samples: [sample.yaml]
  webhooks: {port: %d}
  command: [%q]
  env:
  - {name: %s, value: $(WEBHOOK_PORT)}
  - {name: CERTS, value: $(WEBHOOK_CERT_DIR)}
`, port, os.Args[0], operatorVariable),
	}
}

func TestWebhooksOfTheSubjectAreInForce(t *testing.T) {
	nothingLeft(t)
	dir := t.TempDir()
	code, stdout, stderr := command(t, "run", "-f", subjectFile(t, webhookSubject(0, 2)), "-o", dir, "--level", "apiserver", "--observe-for", "1s")
	if code != ExitOK {
		t.Errorf("a sample that the webhook allows: exit code %d, %s, %s", code, stdout, stderr)
	}
	code, _, stderr = command(t, "run", "-q", "-f", subjectFile(t, webhookSubject(0, 4)), "-o", dir, "--level", "apiserver")
	if code != ExitUsage || !strings.Contains(stderr, "spec.size must be at most 3") || !strings.Contains(stderr, `refuses Widget "sample"`) {
		t.Errorf("a sample that the webhook refuses: exit code %d, %s", code, stderr)
	}
}

func TestAWebhookPortThatIsInUseIsSaid(t *testing.T) {
	nothingLeft(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).Port
	code, _, stderr := command(t, "run", "-q", "-f", subjectFile(t, webhookSubject(port, 1)), "-o", t.TempDir(), "--level", "apiserver")
	if code != ExitUsage || !strings.Contains(stderr, "spec.webhooks.port "+strconv.Itoa(port)+" is in use") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}

func TestWebhookConfigurationsWithoutAPlaceToServeThemAreRefused(t *testing.T) {
	changes := webhookSubject(0, 1)
	changes["seatrial.yaml"] = strings.Replace(changes["seatrial.yaml"], "  webhooks: {port: 0}\n", "", 1)
	changes["seatrial.yaml"], _, _ = strings.Cut(changes["seatrial.yaml"], "  env:")
	code, _, stderr := command(t, "run", "-q", "-f", subjectFile(t, changes), "-o", t.TempDir(), "--level", "apiserver")
	if code != ExitUsage || !strings.Contains(stderr, "spec.webhooks is not set") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
