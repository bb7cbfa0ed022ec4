package resource

import (
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

const (
	volumeAuth   = "auth"
	mountAuth    = "/auth"
	passwordFile = "password"
	passwordPath = mountAuth + "/" + passwordFile
)

// startScript hands the password to Redis on its standard input, so that it
// shows in no list of processes, and as hexadecimal digits, so that no
// character of it means anything to the parser of redis.conf. As everywhere in
// the operator, newlines at the end of the Secret's value are not part of the
// password: many an editor puts one there. The shell gives way to Redis, which
// must get the signal to end itself.
const startScript = `set -eu
password=$(cat ` + passwordPath + `)
hex=$(printf %s "$password" | od -An -v -tx1 | tr -d ' \n' | sed 's/../\\x&/g')
exec redis-server "$@" - <<EOF
requirepass "$hex"
masterauth "$hex"
EOF
`

// command starts Redis, with the password where there is one. The arguments
// follow.
func command(c *redisv1.RedisCluster) []string {
	if _, protected := c.Spec.Auth.Reference(); protected {
		return []string{"sh", "-c", startScript, "redis-server"}
	}
	return []string{"redis-server"}
}

// pingScript asks the node whether it answers. A node that asks for another
// password than the mounted one answers, too: while a password changes, the
// node knows the new one before the file does.
func pingScript(c *redisv1.RedisCluster) string {
	ping := "redis-cli PING"
	if _, protected := c.Spec.Auth.Reference(); protected {
		ping = `REDISCLI_AUTH=$(cat ` + passwordPath + `) redis-cli PING 2>&1`
	}
	return `case "$(` + ping + `)" in *PONG*|*NOAUTH*) ;; *) exit 1 ;; esac`
}

// authVolume mounts the password alone of its Secret.
func authVolume(c *redisv1.RedisCluster) []*corev1ac.VolumeApplyConfiguration {
	reference, protected := c.Spec.Auth.Reference()
	if !protected {
		return nil
	}
	return []*corev1ac.VolumeApplyConfiguration{
		corev1ac.Volume().WithName(volumeAuth).WithSecret(corev1ac.SecretVolumeSource().
			WithSecretName(reference.Name).
			WithItems(corev1ac.KeyToPath().WithKey(reference.Key).WithPath(passwordFile))),
	}
}

func authMount(c *redisv1.RedisCluster) []*corev1ac.VolumeMountApplyConfiguration {
	if _, protected := c.Spec.Auth.Reference(); !protected {
		return nil
	}
	return []*corev1ac.VolumeMountApplyConfiguration{
		corev1ac.VolumeMount().WithName(volumeAuth).WithMountPath(mountAuth).WithReadOnly(true),
	}
}
