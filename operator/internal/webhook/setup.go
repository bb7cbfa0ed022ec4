package webhook

import (
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// PathReattach is where the mutating webhook is served. The paths of the others
// are controller-runtime's.
const PathReattach = "/reattach-conversion-data"

// SetupWithManager makes a manager serve the webhooks.
func SetupWithManager(mgr ctrl.Manager) error {
	err := ctrl.NewWebhookManagedBy(mgr, &redisv1.RedisCluster{}).WithValidator(Validator{}).Complete()
	if err != nil {
		return fmt.Errorf("setting up the validating and the conversion webhook: %w", err)
	}
	mgr.GetWebhookServer().Register(PathReattach, &admission.Webhook{Handler: Reattacher{}})
	return nil
}
