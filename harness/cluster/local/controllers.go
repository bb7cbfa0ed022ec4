package local

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/seatrial/seatrial/harness/cluster"
	"github.com/seatrial/seatrial/harness/cluster/podlife"
	"github.com/seatrial/seatrial/harness/trial"
)

// StorageClass is the name of the default StorageClass.
const StorageClass = "standard"

//go:embed volumes.yaml
var volumeStages []byte

// The programs of level controlplane.
const (
	controllerManager = "kube-controller-manager"
	scheduler         = "kube-scheduler"
	kwok              = "kwok"
)

// startControllers starts what makes an API server a control plane, and
// returns when its nodes are ready.
func (c *Cluster) startControllers(ctx context.Context, seeded bool) error {
	client, err := kubernetes.NewForConfig(c.admin)
	if err != nil {
		return fmt.Errorf("preparing a client: %w", err)
	}
	if err := c.startControllerManager(); err != nil {
		return err
	}
	if err := c.startScheduler(); err != nil {
		return err
	}
	if err := c.startKWOK(c.options.PodLife); err != nil {
		return err
	}
	if !seeded {
		if err := c.makeStorageClass(ctx, client); err != nil {
			return err
		}
	}
	for i := range c.options.Nodes {
		if err := makeNode(ctx, client, i); err != nil {
			return err
		}
	}
	return c.await(ctx, controllerManager, func(ctx context.Context) error { return populated(ctx, client) })
}

func (c *Cluster) startControllerManager() error {
	kubeconfig, err := c.writeKubeconfig("system:kube-controller-manager")
	if err != nil {
		return err
	}
	return c.run(controllerManager, c.options.Programs.ControllerManager,
		"--kubeconfig="+kubeconfig, "--leader-elect=false", "--secure-port=0", "--profiling=false",
		"--service-account-private-key-file="+filepath.Join(c.dir, accountKeyFile),
		"--root-ca-file="+filepath.Join(c.dir, caFile),
		"--kube-api-qps=1000", "--kube-api-burst=2000",
		// Nodes without kubelets do not fall silent.
		"--node-monitor-grace-period=8760h",
	)
}

func (c *Cluster) startScheduler() error {
	kubeconfig, err := c.writeKubeconfig("system:kube-scheduler")
	if err != nil {
		return err
	}
	return c.run(scheduler, c.options.Programs.Scheduler,
		"--kubeconfig="+kubeconfig, "--leader-elect=false", "--secure-port=0", "--profiling=false",
		"--kube-api-qps=1000", "--kube-api-burst=2000",
	)
}

func (c *Cluster) startKWOK(scripts []podlife.Script) error {
	stages, err := podlife.Stages(scripts)
	if err != nil {
		return fmt.Errorf("scripting pods: %w", err)
	}
	config := filepath.Join(c.dir, "stages.yaml")
	if err := os.WriteFile(config, bytes.Join([][]byte{stages, volumeStages}, []byte("\n---\n")), 0o600); err != nil {
		return fmt.Errorf("scripting pods: %w", err)
	}
	kubeconfig, err := c.writeKubeconfig("system:kwok")
	if err != nil {
		return err
	}
	return c.run(kwok, c.options.Programs.KWOK,
		"--kubeconfig="+kubeconfig, "--config="+config, "--manage-all-nodes=true",
		// Leases would make a KWOK that is started again wait for its
		// predecessor's to expire.
		"--node-lease-duration-seconds=0", "--cidr=10.244.0.0/16", "--node-ip=10.0.0.1", "--server-address=",
	)
}

// replace starts one of the programs again.
func (c *Cluster) replace(ctx context.Context, name string, start func() error) error {
	c.mu.Lock()
	p, stopped := c.running[name], c.stopped
	c.mu.Unlock()
	if stopped {
		return errors.New("the cluster was stopped")
	}
	if err := p.Stop(ctx, 0); err != nil {
		return err
	}
	return start()
}

// SetPodLife implements cluster.PodScripter. KWOK is started again with the new
// scripts, which takes well under a second, and looks at every pod anew. A
// back-off or delay that was running starts from its beginning.
func (c *Cluster) SetPodLife(ctx context.Context, scripts []podlife.Script) error {
	if c.options.Level != trial.LevelControlPlane {
		return cluster.ErrNoPodLife
	}
	if err := podlife.Validate(scripts); err != nil {
		return fmt.Errorf("scripting pods: %w", err)
	}
	return c.replace(ctx, kwok, func() error { return c.startKWOK(scripts) })
}

// CRDsInstalled implements cluster.CRDAware. The garbage collector learns of new
// kinds once in 30 s; started again, it knows them at once.
func (c *Cluster) CRDsInstalled(ctx context.Context) error {
	if c.options.Level != trial.LevelControlPlane {
		return nil
	}
	return c.replace(ctx, controllerManager, c.startControllerManager)
}

func (c *Cluster) makeStorageClass(ctx context.Context, client kubernetes.Interface) error {
	_, err := client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{
			Name:        StorageClass,
			Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"},
		},
		Provisioner:          "seatrial.dev/volumes",
		AllowVolumeExpansion: new(true),
	}, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("making the default StorageClass: %w", err)
	}
	return nil
}

// makeNode makes a node as its kubelet would register it, ready.
func makeNode(ctx context.Context, client kubernetes.Interface, i int) error {
	name := "node-" + strconv.Itoa(i)
	room := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("64"), corev1.ResourceMemory: resource.MustParse("256Gi"),
		corev1.ResourcePods: resource.MustParse("500"), corev1.ResourceEphemeralStorage: resource.MustParse("1Ti"),
	}
	now := metav1.Now()
	_, err := client.CoreV1().Nodes().Create(ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64",
		}},
		Status: corev1.NodeStatus{
			Capacity: room, Allocatable: room,
			Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.0.0." + strconv.Itoa(i+1)}, {Type: corev1.NodeHostName, Address: name}},
			NodeInfo:  corev1.NodeSystemInfo{OperatingSystem: "linux", Architecture: "amd64", ContainerRuntimeVersion: "kwok://", KubeletVersion: "kwok"},
			Conditions: []corev1.NodeCondition{{
				Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady", Message: "the node is ready",
				LastHeartbeatTime: now, LastTransitionTime: now,
			}},
		},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making node %s: %w", name, err)
	}
	return nil
}

// populated returns nil once the controllers have done what users of a cluster
// take for granted: nodes take pods, and pods get a ServiceAccount.
func populated(ctx context.Context, client kubernetes.Interface) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, node := range nodes.Items {
		if len(node.Spec.Taints) > 0 {
			return fmt.Errorf("node %s has taints %v", node.Name, node.Spec.Taints)
		}
	}
	_, err = client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
	return err
}
