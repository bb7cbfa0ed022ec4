package spoke

import (
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// ReadyMessage is the message of the condition Ready, or empty where there is
// no such condition.
func ReadyMessage(conditions []metav1.Condition) string {
	if ready := meta.FindStatusCondition(conditions, redisv1.ConditionReady); ready != nil {
		return ready.Message
	}
	return ""
}

// LastBackup is when the latest of all backups that succeeded had ended, or
// nil where none has.
func LastBackup(backups []redisv1.BackupStatus) *metav1.Time {
	var last *metav1.Time
	for _, b := range backups {
		if b.LastSuccessTime != nil && (last == nil || last.Before(b.LastSuccessTime)) {
			last = b.LastSuccessTime
		}
	}
	return last
}

// WithLastBackup returns the backups with that time as the latest. Where it is
// not, it becomes that of the main backup, and what is later is forgotten.
func WithLastBackup(backups []redisv1.BackupStatus, last *metav1.Time) []redisv1.BackupStatus {
	if LastBackup(backups).Equal(last) {
		return backups
	}
	if last == nil {
		for i := range backups {
			backups[i].LastSuccessTime = nil
		}
		return slices.DeleteFunc(backups, func(b redisv1.BackupStatus) bool { return b == redisv1.BackupStatus{Name: b.Name} })
	}
	for i := range backups {
		if last.Before(backups[i].LastSuccessTime) {
			backups[i].LastSuccessTime = nil
		}
	}
	i := slices.IndexFunc(backups, func(b redisv1.BackupStatus) bool { return b.Name == MainBackupName })
	if i < 0 {
		return append(backups, redisv1.BackupStatus{Name: MainBackupName, LastSuccessTime: last})
	}
	backups[i].LastSuccessTime = last
	return backups
}
