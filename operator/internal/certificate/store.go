package certificate

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// readSecret reads the Secret. If there is none it returns one that is not
// stored yet, which has no resourceVersion.
func readSecret(ctx context.Context, reader client.Reader, o Options) (*corev1.Secret, error) {
	secret := &corev1.Secret{}
	err := reader.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.SecretName}, secret)
	if apierrors.IsNotFound(err) {
		missing := &corev1.Secret{Type: corev1.SecretTypeTLS}
		missing.Namespace, missing.Name = o.Namespace, o.SecretName
		return missing, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading Secret %s: %w", o.SecretName, err)
	}
	return secret, nil
}

// writeSecret puts a material into the Secret that was read. It fails if the
// Secret is not as it was then. The type of a Secret cannot be changed, so one
// that somebody made with another type keeps it; nothing here depends on it.
func writeSecret(ctx context.Context, writer client.Writer, secret *corev1.Secret, m Material) error {
	if err := m.Encode(secret); err != nil {
		return err
	}
	if secret.ResourceVersion == "" {
		if err := writer.Create(ctx, secret, client.FieldOwner(FieldManager)); err != nil {
			return fmt.Errorf("creating Secret %s: %w", secret.Name, err)
		}
		return nil
	}
	if err := writer.Update(ctx, secret, client.FieldOwner(FieldManager)); err != nil {
		return fmt.Errorf("updating Secret %s: %w", secret.Name, err)
	}
	return nil
}

// raced reports whether a write failed only because the object changed, came
// or went since it was read, so that the thing to do is to look again.
func raced(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) || apierrors.IsNotFound(err)
}
