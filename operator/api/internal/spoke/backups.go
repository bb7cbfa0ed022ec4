package spoke

import (
	"slices"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// MainBackupName is that of the backup that versions with a single one show.
// They show no other in its place: a client that takes the one it sees away
// would then take another away each time that it says the same again.
const MainBackupName = "default"

// DefaultRetention is how many backups are kept where nothing is said.
const DefaultRetention = 3

// MainBackup is the backup that versions with a single one show, and whether
// there is one.
func MainBackup(all []redisv1.Backup) (redisv1.Backup, bool) {
	if i := mainIndex(all); i >= 0 {
		return all[i], true
	}
	return redisv1.Backup{}, false
}

// WithMainBackup returns the backups with the main one changed, or added at
// the end.
func WithMainBackup(all []redisv1.Backup, schedule string, retention int32, claim string) []redisv1.Backup {
	all = slices.Clone(all)
	i := mainIndex(all)
	if i < 0 {
		all, i = append(all, redisv1.Backup{Name: MainBackupName}), len(all)
	}
	all[i].Schedule = schedule
	all[i].Retention = retention
	all[i].Destination.PVC.ClaimName = claim
	return all
}

// WithoutMainBackup returns the backups without the main one.
func WithoutMainBackup(all []redisv1.Backup) []redisv1.Backup {
	return slices.DeleteFunc(slices.Clone(all), func(b redisv1.Backup) bool { return b.Name == MainBackupName })
}

func mainIndex(all []redisv1.Backup) int {
	return slices.IndexFunc(all, func(b redisv1.Backup) bool { return b.Name == MainBackupName })
}
