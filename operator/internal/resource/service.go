package resource

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// Ports of a Redis pod. The bus port is what Redis derives from its own.
const (
	portRedis     int32 = 6379
	portBus       int32 = 16379
	portNameRedis       = "redis"
	portNameBus         = "bus"
)

// nodesService gives each pod a name of its own. Pods find each other by it
// before they are ready, because a Redis node gets ready only among others.
func nodesService() Child {
	return recipe[*corev1.Service, *corev1ac.ServiceApplyConfiguration]{
		role:    RoleNodes,
		version: corev1.SchemeGroupVersion,
		kind:    "Service",
		name:    NodesServiceName,
		empty: func() *corev1.Service {
			return &corev1.Service{}
		},
		desired: func(t Target) *corev1ac.ServiceApplyConfiguration {
			c := t.Cluster
			return service(c, NodesServiceName(c.Name)).WithSpec(serviceSpec(c).
				WithClusterIP(corev1.ClusterIPNone).
				WithPublishNotReadyAddresses(true).
				WithPorts(servicePort(portNameRedis, portRedis), servicePort(portNameBus, portBus)))
		},
		extract: corev1ac.ExtractService,
	}.child()
}

// clientService is the address for clients: ready pods only.
func clientService() Child {
	return recipe[*corev1.Service, *corev1ac.ServiceApplyConfiguration]{
		role:    RoleClient,
		version: corev1.SchemeGroupVersion,
		kind:    "Service",
		name:    sameName,
		empty: func() *corev1.Service {
			return &corev1.Service{}
		},
		desired: func(t Target) *corev1ac.ServiceApplyConfiguration {
			c := t.Cluster
			return service(c, c.Name).WithSpec(serviceSpec(c).
				WithPorts(servicePort(portNameRedis, portRedis)))
		},
		extract: corev1ac.ExtractService,
	}.child()
}

// NodesServiceName is the name of the headless Service.
func NodesServiceName(cluster string) string { return cluster + "-nodes" }

func sameName(cluster string) string { return cluster }

func service(c *redisv1.RedisCluster, name string) *corev1ac.ServiceApplyConfiguration {
	return corev1ac.Service(name, c.Namespace).WithLabels(childLabels(c)).WithOwnerReferences(owner(c))
}

func serviceSpec(c *redisv1.RedisCluster) *corev1ac.ServiceSpecApplyConfiguration {
	return corev1ac.ServiceSpec().WithType(corev1.ServiceTypeClusterIP).WithSelector(selectorLabels(c))
}

// servicePort spells the protocol out: it is part of a port's key, so what the
// operator owns would contain it all the same.
func servicePort(name string, port int32) *corev1ac.ServicePortApplyConfiguration {
	return corev1ac.ServicePort().
		WithName(name).
		WithPort(port).
		WithProtocol(corev1.ProtocolTCP).
		WithTargetPort(intstr.FromString(name))
}
