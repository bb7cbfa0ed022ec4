//go:build envtest

package envtest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	coordinationv1 "k8s.io/api/coordination/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

var _ = Describe("The program", levelAPIServer, func() {
	var (
		w       *world
		manager string
	)

	BeforeEach(func(ctx SpecContext) {
		w = newWorld(ctx, levels.apiserver)
		manager = filepath.Join(GinkgoT().TempDir(), "manager")
		build := exec.CommandContext(ctx, "go", "build", "-o", manager, "../../operator/cmd/manager")
		output, err := build.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(output))
	})

	// start runs the program with the kubeconfig of the operator's account.
	start := func(ctx context.Context, args ...string) *gexec.Session {
		GinkgoHelper()
		command := exec.CommandContext(ctx, manager, append(args,
			"--metrics-bind-address=0", "--health-probe-bind-address=0", "--webhook-port=0", "--namespace="+w.namespace)...)
		command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig(w.asShipped()))
		session, err := gexec.Start(command, GinkgoWriter, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { session.Kill().Wait(stoppedWithin) })
		return session
	}

	It("works where KUBECONFIG leads, and hands its lease over when it is told to end", func(ctx SpecContext) {
		w.allowLease(ctx)
		session := start(ctx, "--leader-elect", "--leader-election-namespace="+w.namespace)
		w.create(ctx)
		w.childrenExist(ctx)
		Expect(w.holder(ctx)).NotTo(BeEmpty())

		session.Signal(syscall.SIGTERM)
		Eventually(session).WithTimeout(stoppedWithin).Should(gexec.Exit(0))
		Expect(w.holder(ctx)).To(BeEmpty(), "the next one must not have to wait")

		start(ctx, "--leader-elect", "--leader-election-namespace="+w.namespace)
		w.edit(ctx, func(c *redisv1.RedisCluster) { c.Spec.Topology.Shards = 5 })
		Eventually(func() *int32 { return w.set(ctx).Spec.Replicas }).Should(HaveValue(Equal(int32(5))))
	})
})

// holder is who holds the lease.
func (w *world) holder(ctx context.Context) string {
	GinkgoHelper()
	lease := &coordinationv1.Lease{}
	key := client.ObjectKey{Namespace: w.namespace, Name: "rediscluster-operator.cache.example.com"}
	Expect(w.client.Get(ctx, key, lease)).To(Succeed())
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// allowLease gives the operator's account in the spec's namespace what its
// Role gives it at home.
func (w *world) allowLease(ctx context.Context) {
	GinkgoHelper()
	shipped := &rbacv1.Role{}
	Expect(w.client.Get(ctx, client.ObjectKey{Namespace: "redis-system", Name: "rediscluster-operator"}, shipped)).To(Succeed())
	here := metav1.ObjectMeta{Namespace: w.namespace, Name: "leader-election"}
	Expect(w.client.Create(ctx, &rbacv1.Role{ObjectMeta: here, Rules: shipped.Rules})).To(Succeed())
	Expect(w.client.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: here,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: here.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: account}},
	})).To(Succeed())
}

// kubeconfig writes a configuration as a file, and returns its path.
func kubeconfig(config *rest.Config) string {
	GinkgoHelper()
	const name = "operator"
	path := filepath.Join(GinkgoT().TempDir(), "kubeconfig")
	Expect(clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters: map[string]*clientcmdapi.Cluster{name: {Server: config.Host, CertificateAuthorityData: config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{name: {
			ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
			Impersonate: config.Impersonate.UserName, ImpersonateGroups: config.Impersonate.Groups,
		}},
		Contexts:       map[string]*clientcmdapi.Context{name: {Cluster: name, AuthInfo: name}},
		CurrentContext: name,
	}, path)).To(Succeed())
	return path
}
