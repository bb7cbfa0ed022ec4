package resource

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// TestStatefulSetVariants holds the StatefulSet of each kind of specification
// as YAML.
func TestStatefulSetVariants(t *testing.T) {
	tests := map[string]struct {
		golden string
		change func(*redisv1.RedisClusterSpec)
		claim  *corev1.PersistentVolumeClaim
	}{
		"with a password": {"set-auth.yaml", func(s *redisv1.RedisClusterSpec) {
			s.Auth = redisv1.Auth{Mode: redisv1.AuthPassword, Password: &redisv1.PasswordAuth{
				SecretRef: redisv1.SecretKeyReference{Name: "login", Key: "pass"},
			}}
		}, nil},
		"with volumes of its own": {"set-storage.yaml", persistent, nil},
		"with volumes that are there and differ": {"set-storage-live.yaml", persistent, &corev1.PersistentVolumeClaim{
			Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: new("slow"),
				Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{
					corev1.ResourceStorage: resource.MustParse("1Gi"),
				}},
			},
		}},
		"with rules on where pods run": {"set-scheduling.yaml", func(s *redisv1.RedisClusterSpec) {
			s.Scheduling = redisv1.Scheduling{
				PodAntiAffinity:   redisv1.PodAntiAffinity{Mode: redisv1.AntiAffinityRequired, TopologyKey: "zone"},
				NodeSelector:      map[string]string{"disk": "fast"},
				Tolerations:       []corev1.Toleration{{Key: "db", Operator: corev1.TolerationOpExists}},
				PriorityClassName: "high",
				TopologySpreadConstraints: []corev1.TopologySpreadConstraint{
					{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule},
					{MaxSkew: 2, TopologyKey: "rack", WhenUnsatisfiable: corev1.ScheduleAnyway, LabelSelector: &metav1.LabelSelector{
						MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpIn, Values: []string{"a"}}},
					}},
				},
			}
			s.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}
			s.Image.PullSecrets = []redisv1.LocalObjectReference{{Name: "pull"}}
			s.Image.PullPolicy = redisv1.PullAlways
		}, nil},
		"with no anti-affinity": {"set-anywhere.yaml", func(s *redisv1.RedisClusterSpec) {
			s.Scheduling.PodAntiAffinity.Mode = redisv1.AntiAffinityNone
		}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			c := cluster()
			tc.change(&c.Spec)
			golden(t, tc.golden, statefulSet().Desired(Target{Cluster: c, Pods: 6, Claim: tc.claim}))
		})
	}
}

func persistent(s *redisv1.RedisClusterSpec) {
	s.Storage = redisv1.Storage{
		Type:       redisv1.StoragePersistent,
		Persistent: &redisv1.PersistentStorage{Size: resource.MustParse("5Gi"), ClassName: new("fast")},
	}
	s.DeletionPolicy = redisv1.DeletionRetain
}

// TestTheStartScriptHandsThePasswordOver runs the script with programs of the
// test's own in the place of redis-server.
func TestTheStartScriptHandsThePasswordOver(t *testing.T) {
	dir := t.TempDir()
	password := filepath.Join(dir, "password")
	server := filepath.Join(dir, "redis-server")
	if err := os.WriteFile(server, []byte("#!/bin/sh\necho \"$@\"\ncat\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ file, hex string }{
		"letters":              {"secret", `\x73\x65\x63\x72\x65\x74`},
		"a newline at the end": {"a\n", `\x61`},
		"what a parser of redis.conf would take for more": {"\" '\\\n#é", `\x22\x20\x27\x5c\x0a\x23\xc3\xa9`},
		"more than od writes on one line":                 {strings.Repeat("a", 40), strings.Repeat(`\x61`, 40)},
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(password, []byte(tc.file), 0o600); err != nil {
				t.Fatal(err)
			}
			script := strings.ReplaceAll(startScript, passwordPath, password)
			run := exec.CommandContext(t.Context(), "sh", "-c", script, "redis-server", "/etc/redis.conf", "--port", "1")
			run.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
			got, err := run.CombinedOutput()
			want := "/etc/redis.conf --port 1 -\nrequirepass \"" + tc.hex + "\"\nmasterauth \"" + tc.hex + "\"\n"
			if err != nil || string(got) != want {
				t.Errorf("error %v, got:\n%s\nwant:\n%s", err, got, want)
			}
		})
	}
}
