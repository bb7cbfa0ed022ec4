package resource

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

const (
	containerName  = "redis"
	volumeConfig   = "config"
	volumeData     = "data"
	mountConfig    = "/conf"
	mountData      = "/data"
	envPodName     = "POD_NAME"
	envPodIP       = "POD_IP"
	envNamespace   = "POD_NAMESPACE"
	fieldPodName   = "metadata.name"
	fieldPodIP     = "status.podIP"
	fieldNamespace = "metadata.namespace"
	// redisUser is the user and group of the official image's redis-server.
	redisUser int64 = 999
	// graceSeconds leaves Redis its shutdown-timeout (10 s) to hand over to
	// replicas, and the time to write its files.
	graceSeconds int64 = 30
)

// podTemplate is made for the "restricted" Pod Security Standard.
func podTemplate(c *redisv1.RedisCluster) *corev1ac.PodTemplateSpecApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		WithTerminationGracePeriodSeconds(graceSeconds).
		WithSecurityContext(corev1ac.PodSecurityContext().
			WithRunAsNonRoot(true).
			WithRunAsUser(redisUser).
			WithRunAsGroup(redisUser).
			WithFSGroup(redisUser).
			WithSeccompProfile(corev1ac.SeccompProfile().WithType(corev1.SeccompProfileTypeRuntimeDefault))).
		WithContainers(container(c)).
		WithVolumes(corev1ac.Volume().WithName(volumeConfig).WithConfigMap(
			corev1ac.ConfigMapVolumeSource().WithName(ConfigMapName(c.Name)))).
		WithVolumes(authVolume(c)...).
		WithVolumes(emptyData(c)...)
	for _, secret := range c.Spec.Image.PullSecrets {
		spec.WithImagePullSecrets(corev1ac.LocalObjectReference().WithName(secret.Name))
	}
	return corev1ac.PodTemplateSpec().
		WithLabels(podLabels(c)).
		WithAnnotations(map[string]string{AnnotationConfigHash: configHash(c)}).
		WithSpec(schedule(c, spec))
}

// container announces the pod's address on the command line, because a Redis
// node does not learn by itself that it came back with another one.
func container(c *redisv1.RedisCluster) *corev1ac.ContainerApplyConfiguration {
	return corev1ac.Container().
		WithName(containerName).
		WithImage(c.Spec.Image.Reference()).
		WithImagePullPolicy(pullPolicy(c)).
		WithCommand(command(c)...).
		WithArgs(
			mountConfig+"/"+configFile,
			"--cluster-announce-ip", "$("+envPodIP+")",
			"--cluster-announce-hostname",
			"$("+envPodName+")."+NodesServiceName(c.Name)+".$("+envNamespace+").svc").
		WithEnv(
			fieldEnv(envPodName, fieldPodName),
			fieldEnv(envNamespace, fieldNamespace),
			fieldEnv(envPodIP, fieldPodIP)).
		WithPorts(containerPort(portNameRedis, portRedis), containerPort(portNameBus, portBus)).
		WithResources(resources(c)).
		WithReadinessProbe(readiness(c)).
		WithLivenessProbe(liveness()).
		// Redis says on its standard output what it does not like in its
		// configuration, and the pod's status can then show it.
		WithTerminationMessagePolicy(corev1.TerminationMessageFallbackToLogsOnError).
		WithSecurityContext(corev1ac.SecurityContext().
			WithAllowPrivilegeEscalation(false).
			WithReadOnlyRootFilesystem(true).
			WithCapabilities(corev1ac.Capabilities().WithDrop("ALL"))).
		WithVolumeMounts(
			corev1ac.VolumeMount().WithName(volumeConfig).WithMountPath(mountConfig).WithReadOnly(true),
			corev1ac.VolumeMount().WithName(volumeData).WithMountPath(mountData)).
		WithVolumeMounts(authMount(c)...)
}

// pullPolicy spells the policy out: what Kubernetes takes for absent depends
// on the image's tag.
func pullPolicy(c *redisv1.RedisCluster) corev1.PullPolicy {
	return corev1.PullPolicy(cmp.Or(c.Spec.Image.PullPolicy, redisv1.PullIfNotPresent))
}

func resources(c *redisv1.RedisCluster) *corev1ac.ResourceRequirementsApplyConfiguration {
	wanted := corev1ac.ResourceRequirements()
	if limits := c.Spec.Resources.Limits; len(limits) > 0 {
		wanted.WithLimits(limits)
	}
	if requests := c.Spec.Resources.Requests; len(requests) > 0 {
		wanted.WithRequests(requests)
	}
	return wanted
}

// readiness asks the node itself, never the state of the Redis Cluster: one
// lost shard would take every pod out of the Service at once, and a new
// cluster could not be formed.
func readiness(c *redisv1.RedisCluster) *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().
		WithExec(corev1ac.ExecAction().WithCommand("sh", "-c", pingScript(c))).
		WithPeriodSeconds(5).
		WithTimeoutSeconds(3)
}

// liveness only asks for an open port: a node that loads its data, or lost its
// primary, is alive.
func liveness() *corev1ac.ProbeApplyConfiguration {
	return corev1ac.Probe().
		WithTCPSocket(corev1ac.TCPSocketAction().WithPort(intstr.FromString(portNameRedis))).
		WithInitialDelaySeconds(10).
		WithPeriodSeconds(10).
		WithTimeoutSeconds(3).
		WithFailureThreshold(6)
}

// fieldEnv spells the version out: a field reference is owned as a whole, with
// what the API server fills in.
func fieldEnv(name, path string) *corev1ac.EnvVarApplyConfiguration {
	return corev1ac.EnvVar().WithName(name).WithValueFrom(
		corev1ac.EnvVarSource().WithFieldRef(corev1ac.ObjectFieldSelector().WithAPIVersion("v1").WithFieldPath(path)))
}

// containerPort spells the protocol out, as servicePort does.
func containerPort(name string, port int32) *corev1ac.ContainerPortApplyConfiguration {
	return corev1ac.ContainerPort().WithName(name).WithContainerPort(port).WithProtocol(corev1.ProtocolTCP)
}
