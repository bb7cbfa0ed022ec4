package engine

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/process"
)

// The files that a trial leaves in Options.Dir.
const (
	HistoryFile = "history.jsonl"
	LogFile     = "operator.log"
	BuildFile   = "build.log"
)

// tokenLifetime outlives any trial; the API server may shorten it.
const tokenLifetime = 24 * time.Hour

// setVariables fixes the values that the subject file's variables stand for.
func (r *run) setVariables() error {
	r.variables = map[string]string{
		VarWorkDir:    r.WorkDir,
		VarKubeconfig: filepath.Join(r.WorkDir, "kubeconfig"),
		VarNamespace:  r.Subject.Account.Namespace,
	}
	w := r.Subject.Spec.Webhooks
	if w == nil {
		return nil
	}
	server, err := newWebhookServer(w.Port, filepath.Join(r.WorkDir, "webhook-certs"))
	if err != nil {
		return err
	}
	if w.CertDir != "" {
		dir, err := expand("spec.webhooks.certDir", w.CertDir, r.variables)
		if err != nil {
			return err
		}
		server.certDir = r.Subject.Path(dir)
	}
	r.webhooks = server
	r.variables[VarWebhookPort] = strconv.Itoa(server.port)
	r.variables[VarWebhookCertDir] = server.certDir
	return server.writeCertificate()
}

// build runs the subject's build command, if it has one.
func (r *run) build(ctx context.Context) error {
	b := r.Subject.Spec.Build
	if b == nil {
		return nil
	}
	command, err := expandAll("spec.build.command", b.Command, r.variables)
	if err != nil {
		return err
	}
	env, err := expandEnv("spec.build.env", b.Env, r.variables)
	if err != nil {
		return err
	}
	start := time.Now()
	p, err := r.group.Start(process.Spec{
		Command: command,
		// A build is the user's own: it gets the user's own environment.
		Env:     append(os.Environ(), env...),
		Dir:     r.Subject.Path(b.Directory),
		LogFile: filepath.Join(r.Dir, BuildFile),
	})
	if err != nil {
		return inputErrorf("spec.build.command: %w", err)
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		return errors.Join(context.Cause(ctx), p.Stop(context.WithoutCancel(ctx), 0))
	}
	if exit := p.Exit(); exit.Code != 0 {
		return inputErrorf("spec.build.command %q ended with %s%s", strings.Join(command, " "), exit, logLines(p.Tail(tailKept)))
	}
	r.sayf(PhasePrepare, "built the operator in %v", time.Since(start).Round(100*time.Millisecond))
	return nil
}

// writeKubeconfig writes what leads the subject to the API server: through the
// proxy, as its own ServiceAccount.
func (r *run) writeKubeconfig(ctx context.Context) error {
	client, err := kubernetes.NewForConfig(r.cluster.Config())
	if err != nil {
		return fmt.Errorf("preparing the operator's credentials: %w", err)
	}
	account := r.Subject.Account
	seconds := int64(tokenLifetime / time.Second)
	token, err := client.CoreV1().ServiceAccounts(account.Namespace).CreateToken(ctx, account.Name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}},
		metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("asking for a token of ServiceAccount %s/%s: %w", account.Namespace, account.Name, err)
	}
	kubeconfig, err := r.proxy.Kubeconfig(token.Status.Token, account.Namespace)
	if err != nil {
		return fmt.Errorf("writing the operator's kubeconfig: %w", err)
	}
	if err := os.WriteFile(r.variables[VarKubeconfig], kubeconfig, 0o600); err != nil {
		return fmt.Errorf("writing the operator's kubeconfig: %w", err)
	}
	return r.describeOperator()
}

// passedOn are the variables of the harness's own environment that a program
// may need and that say nothing about any other cluster.
var passedOn = []string{"PATH", "HOME", "TMPDIR", "LANG", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR"}

// describeOperator works out how the subject's process is started.
func (r *run) describeOperator() error {
	command, err := expandAll("spec.command", r.Subject.Spec.Command, r.variables)
	if err != nil {
		return err
	}
	if strings.ContainsRune(command[0], filepath.Separator) {
		command[0] = r.Subject.Path(command[0])
	}
	own, err := expandEnv("spec.env", r.Subject.Spec.Env, r.variables)
	if err != nil {
		return err
	}
	var env []string
	for _, name := range passedOn {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	env = append(env, VarKubeconfig+"="+r.variables[VarKubeconfig], "POD_NAMESPACE="+r.Subject.Account.Namespace)
	r.operator = newOperator(r.group, process.Spec{
		Command: command, Env: append(env, own...), Dir: r.Subject.Dir, LogFile: filepath.Join(r.Dir, LogFile),
	}, func(p *history.Process) { r.log.Record(history.Entry{Process: p}) }, r.activity.wake)
	return nil
}

// freePort returns the port asked for, or a free one for 0, once it is known
// that it can be listened on.
func freePort(asked int) (int, error) {
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, strconv.Itoa(asked))) //nolint:noctx // binds and closes at once
	if err != nil {
		return 0, inputErrorf("spec.webhooks.port %d is in use: choose another, or 0 for a free one: %w", asked, err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return port, listener.Close()
}

const loopback = "127.0.0.1"
