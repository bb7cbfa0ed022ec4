package webhook

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

func cluster(mods ...func(*redisv1.RedisClusterSpec)) *redisv1.RedisCluster {
	c := &redisv1.RedisCluster{ObjectMeta: metav1.ObjectMeta{Name: "demo"}}
	for _, mod := range mods {
		mod(&c.Spec)
	}
	return c
}

func persistent(size, class string) func(*redisv1.RedisClusterSpec) {
	return func(s *redisv1.RedisClusterSpec) {
		s.Storage = redisv1.Storage{Type: redisv1.StoragePersistent, Persistent: &redisv1.PersistentStorage{
			Size: resource.MustParse(size), ClassName: &class,
		}}
	}
}

func setting(name string, values ...string) func(*redisv1.RedisClusterSpec) {
	return func(s *redisv1.RedisClusterSpec) {
		s.Config = append(s.Config, redisv1.ConfigEntry{Name: name, Values: values})
	}
}

func backup(schedule, zone string) func(*redisv1.RedisClusterSpec) {
	return func(s *redisv1.RedisClusterSpec) {
		s.Backups = []redisv1.Backup{{Name: "nightly", Schedule: schedule, TimeZone: zone, Destination: redisv1.BackupDestination{
			PVC: redisv1.ClaimDestination{ClaimName: "backups"},
		}}}
	}
}

func fields(problems field.ErrorList) []string {
	var all []string
	for _, problem := range problems {
		all = append(all, problem.Field)
	}
	slices.Sort(all)
	return all
}

func TestCheck(t *testing.T) {
	type spec = redisv1.RedisClusterSpec
	tests := map[string]struct {
		mod  func(*spec)
		want []string
	}{
		"an empty spec":                 {func(*spec) {}, nil},
		"too many shards":               {func(s *spec) { s.Topology.Shards = 31 }, []string{"spec.topology.shards"}},
		"a negative number of shards":   {func(s *spec) { s.Topology.Shards = -1 }, []string{"spec.topology.shards"}},
		"too many replicas":             {func(s *spec) { s.Topology.ReplicasPerShard = 6 }, []string{"spec.topology.replicasPerShard"}},
		"an image without repository":   {func(s *spec) { s.Image = redisv1.ParseImage(":7") }, []string{"spec.image.repository"}},
		"an image with a space":         {func(s *spec) { s.Image = redisv1.ParseImage("re dis") }, []string{"spec.image.repository"}},
		"an image with a bad tag":       {func(s *spec) { s.Image = redisv1.ParseImage("redis:-x") }, []string{"spec.image.tag"}},
		"an image with a bad digest":    {func(s *spec) { s.Image = redisv1.ParseImage("redis@sha256:ab") }, []string{"spec.image.digest"}},
		"an image on a port":            {func(s *spec) { s.Image = redisv1.ParseImage("example.org:5000/redis:7.0") }, nil},
		"too little memory":             {func(s *spec) { s.Memory.Limit = new(resource.MustParse("1")) }, []string{"spec.memory.limit"}},
		"an eviction policy of nobody":  {func(s *spec) { s.Memory.EvictionPolicy = "sometimes" }, []string{"spec.memory.evictionPolicy"}},
		"a setting of the operator":     {setting("requirepass", "x"), []string{"spec.config[requirepass].name"}},
		"a cluster setting":             {setting("cluster-enabled", "no"), []string{"spec.config[cluster-enabled].name"}},
		"what is no setting":            {setting("Save!", "x"), []string{"spec.config[Save!].name"}},
		"a value of two lines":          {setting("save", "1 1", "1\ndir /x"), []string{"spec.config[save].values[1]"}},
		"volumes without description":   {func(s *spec) { s.Storage.Type = redisv1.StoragePersistent }, []string{"spec.storage.persistent"}},
		"a description without volumes": {func(s *spec) { s.Storage.Persistent = &redisv1.PersistentStorage{} }, []string{"spec.storage.persistent"}},
		"a negative size":               {persistent("-1Gi", ""), []string{"spec.storage.persistent.size"}},
		"a password without Secret":     {func(s *spec) { s.Auth.Mode = redisv1.AuthPassword }, []string{"spec.auth.password"}},
		"a Secret without mode":         {func(s *spec) { s.Auth.Password = &redisv1.PasswordAuth{} }, []string{"spec.auth.password"}},
		"a timeout that is too long":    {func(s *spec) { s.NodeTimeoutMilliseconds = 60001 }, []string{"spec.nodeTimeoutMilliseconds"}},
		"a strategy of nobody":          {func(s *spec) { s.UpdateStrategy.Type = "Later" }, []string{"spec.updateStrategy.type"}},
		"an affinity of nobody":         {func(s *spec) { s.Scheduling.PodAntiAffinity.Mode = "Maybe" }, []string{"spec.scheduling.podAntiAffinity.mode"}},
		"a schedule":                    {backup("15 3 * * *", "Europe/Berlin"), nil},
		"no schedule at all":            {backup("whenever", ""), []string{"spec.backups[nightly].schedule"}},
		"a schedule with a zone":        {backup("TZ=UTC 1 1 * * *", ""), []string{"spec.backups[nightly].schedule"}},
		"a zone of nobody":              {backup("@daily", "Moon/Base"), []string{"spec.backups[nightly].timeZone"}},
		"a last backup to nowhere":      {func(s *spec) { s.DeletionPolicy = redisv1.DeletionBackupThenDelete }, []string{"spec.backups"}},
		"two faults": {func(s *spec) {
			s.Topology.Shards = 99
			s.NodeTimeoutMilliseconds = 1
		}, []string{"spec.nodeTimeoutMilliseconds", "spec.topology.shards"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, fields(Check(cluster(tc.mod)))); diff != "" {
				t.Errorf("refused fields (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckUpdate(t *testing.T) {
	none := func(*redisv1.RedisClusterSpec) {}
	tests := map[string]struct {
		old, next func(*redisv1.RedisClusterSpec)
		want      []string
	}{
		"nothing changes":                        {none, none, nil},
		"volumes come":                           {none, persistent("1Gi", ""), []string{"spec.storage.type"}},
		"volumes go":                             {persistent("1Gi", ""), none, []string{"spec.storage.type"}},
		"volumes grow":                           {persistent("1Gi", "a"), persistent("2Gi", "a"), nil},
		"volumes shrink":                         {persistent("2Gi", "a"), persistent("1Gi", "a"), []string{"spec.storage.persistent.size"}},
		"a size is spelled otherwise":            {persistent("1Gi", "a"), persistent("1024Mi", "a"), nil},
		"the class changes":                      {persistent("1Gi", "a"), persistent("1Gi", "b"), []string{"spec.storage.persistent.className"}},
		"a fault that was there stays":           {setting("dir", "/x"), setting("dir", "/x"), nil},
		"another fault comes to it":              {setting("dir", "/x"), func(s *redisv1.RedisClusterSpec) { setting("dir", "/x")(s); setting("port", "1")(s) }, []string{"spec.config[port].name"}},
		"fewer shards are asked for, for a time": {func(s *redisv1.RedisClusterSpec) { s.Topology.Shards = 9 }, none, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, fields(CheckUpdate(cluster(tc.old), cluster(tc.next)))); diff != "" {
				t.Errorf("refused fields (-want +got):\n%s", diff)
			}
		})
	}
	deleted := cluster(setting("dir", "/x"))
	deleted.DeletionTimestamp = new(metav1.Now())
	if problems := CheckUpdate(cluster(), deleted); len(problems) > 0 {
		t.Errorf("a RedisCluster that is being deleted was refused: %v", problems)
	}
}

func TestRefusalsSayWhichVersionNamesTheField(t *testing.T) {
	for version, want := range map[string]bool{"v1": false, "v1alpha1": true} {
		request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
			RequestKind: &metav1.GroupVersionKind{Group: redisv1.Group, Version: version, Kind: redisv1.Kind},
		}}
		_, err := Validator{}.ValidateCreate(admission.NewContextWithRequest(t.Context(), request), cluster(setting("dir", "/")))
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.config[dir].name") {
			t.Fatalf("%s: error is %v", version, err)
		}
		if got := strings.Contains(err.Error(), "as cache.example.com/v1 names it"); got != want {
			t.Errorf("%s: error is %v", version, err)
		}
	}
}

func TestWarnings(t *testing.T) {
	two := cluster(func(s *redisv1.RedisClusterSpec) { s.Topology = redisv1.Topology{Shards: 2, ReplicasPerShard: 1} })
	two.Generation = 2
	warned, err := Validator{}.ValidateUpdate(t.Context(), cluster(), two)
	if err != nil || len(warned) != 1 || !strings.Contains(warned[0], "spec.topology.shards") {
		t.Errorf("warnings %q, error %v", warned, err)
	}
	if warned, err = (Validator{}).ValidateUpdate(t.Context(), two, two); err != nil || len(warned) != 0 {
		t.Errorf("an update that changes no spec warns %q, error %v", warned, err)
	}
	kept := cluster(func(s *redisv1.RedisClusterSpec) { s.Storage.Retention.WhenDeleted = redisv1.RetentionRetain })
	if warned, err = (Validator{}).ValidateCreate(t.Context(), kept); err != nil || len(warned) != 1 {
		t.Errorf("warnings %q, error %v", warned, err)
	}
}
