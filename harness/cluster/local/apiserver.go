package local

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/seatrial/seatrial/harness/trial"
)

// etcdSocket is the file name of etcd's only way in: no port, nobody else.
const etcdSocket = "etcd.sock"

func (c *Cluster) startEtcd(ctx context.Context) error {
	client := "unix://" + filepath.Join(c.dir, etcdSocket)
	peer := "unix://" + filepath.Join(c.dir, "peer.sock")
	err := c.run("etcd", c.options.Programs.Etcd,
		"--data-dir="+filepath.Join(c.dir, "etcd"),
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer,
		// Nobody reads this state after a crash.
		"--unsafe-no-fsync",
		// One member elects itself; the defaults make it wait for a second.
		"--heartbeat-interval=10", "--election-timeout=50",
		"--log-level=warn",
	)
	if err != nil {
		return err
	}
	// kube-apiserver that finds no etcd backs off for up to a second, so etcd
	// must answer before that one starts.
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(c.dir, etcdSocket))
	}}
	defer transport.CloseIdleConnections()
	return c.await(ctx, "etcd", func(ctx context.Context) error {
		return get(ctx, &http.Client{Transport: transport}, "http://etcd/health")
	})
}

// slowHooks are start hooks of kube-apiserver that look at their work once a
// second. A server that starts from a template finds it done.
const slowHooks = "?exclude=poststarthook%2Fscheduling%2Fbootstrap-system-priority-classes" +
	"&exclude=poststarthook%2Frbac%2Fbootstrap-roles"

func (c *Cluster) startAPIServer(ctx context.Context, seeded bool) error {
	in := func(name string) string { return filepath.Join(c.dir, name) }
	args := []string{
		"--etcd-servers=unix://" + in(etcdSocket),
		"--bind-address=127.0.0.1", "--secure-port=" + strconv.Itoa(c.port.number), "--permit-port-sharing",
		"--tls-cert-file=" + in(servingCert), "--tls-private-key-file=" + in(servingKey), "--client-ca-file=" + in(caFile),
		"--cert-dir=" + c.dir,
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + in(accountKeyFile), "--service-account-signing-key-file=" + in(accountKeyFile),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=RBAC", "--allow-privileged=true",
		"--endpoint-reconciler-type=none", "--profiling=false",
	}
	if c.options.Level == trial.LevelAPIServer {
		// Nobody makes the ServiceAccounts that it asks for.
		args = append(args, "--disable-admission-plugins=ServiceAccount")
	}
	if err := c.run("kube-apiserver", c.options.Programs.APIServer, append(args, c.options.APIServerArgs...)...); err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(c.admin)
	if err != nil {
		return fmt.Errorf("preparing a client: %w", err)
	}
	ready := c.admin.Host + "/readyz"
	if seeded {
		ready += slowHooks
	}
	if err := c.await(ctx, "kube-apiserver", func(ctx context.Context) error { return get(ctx, client, ready) }); err != nil {
		return err
	}
	found, err := discovery.NewDiscoveryClientForConfigAndClient(c.admin, client)
	if err != nil {
		return fmt.Errorf("preparing a client: %w", err)
	}
	version, err := found.ServerVersion()
	if err != nil {
		return fmt.Errorf("asking the API server for its version: %w", err)
	}
	c.version = version.GitVersion
	return nil
}

// get asks for a page and returns an error unless the answer is 200.
func get(ctx context.Context, client *http.Client, url string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, 1<<12))
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", response.Status, body)
	}
	return nil
}

// AddUser returns a configuration that reaches the API server as a user of
// these groups.
func (c *Cluster) AddUser(name string, groups ...string) (*rest.Config, error) {
	return c.userConfig(name, groups...)
}

func (c *Cluster) userConfig(name string, groups ...string) (*rest.Config, error) {
	cert, key, err := c.pki.client(name, groups...)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host:            "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port.number)),
		TLSClientConfig: rest.TLSClientConfig{CAData: c.pki.caPE, CertData: cert, KeyData: key},
		// As envtest has it: a test server is there to be used.
		QPS: 1000, Burst: 2000,
	}, nil
}

// writeKubeconfig writes a file that reaches the API server with all rights
// under the given name.
func (c *Cluster) writeKubeconfig(user string) (string, error) {
	config, err := c.userConfig(user, "system:masters")
	if err != nil {
		return "", err
	}
	path := filepath.Join(c.dir, user[len("system:"):]+".kubeconfig")
	if err := clientcmd.WriteToFile(kubeconfig(config, user), path); err != nil {
		return "", fmt.Errorf("writing the kubeconfig of %s: %w", user, err)
	}
	return path, nil
}

func kubeconfig(config *rest.Config, user string) clientcmdapi.Config {
	return clientcmdapi.Config{
		Clusters:       map[string]*clientcmdapi.Cluster{"seatrial": {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{user: {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}},
		Contexts:       map[string]*clientcmdapi.Context{"seatrial": {Cluster: "seatrial", AuthInfo: user}},
		CurrentContext: "seatrial",
	}
}

// Kubeconfig returns a kubeconfig file with all rights, for kubectl.
func (c *Cluster) Kubeconfig() ([]byte, error) {
	content, err := clientcmd.Write(kubeconfig(c.admin, "admin"))
	if err != nil {
		return nil, fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return content, nil
}

// Environment returns an envtest environment on the cluster, for what envtest
// is good at: set its CRDInstallOptions and WebhookInstallOptions and call its
// Start. Its Stop leaves the cluster running.
func (c *Cluster) Environment() *envtest.Environment {
	return &envtest.Environment{
		UseExistingCluster: new(true),
		Config:             c.Config(),
		ControlPlane:       envtest.ControlPlane{KubectlPath: c.options.Programs.Kubectl},
	}
}
