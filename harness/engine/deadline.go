package engine

import "time"

// Deadlines are the promises a trial holds its subject and its own steps to.
// A zero field means the default.
type Deadlines struct {
	// Start is how long the subject may take to make its first request.
	// Default 30 s.
	Start time.Duration
	// WebhooksServed is how long the subject may take to serve its webhooks.
	// Default 30 s.
	WebhooksServed time.Duration
	// Converge is how long the samples may take to get ready, and the API to
	// get quiet. Default 2 min.
	Converge time.Duration
	// Settle is how long a subject whose samples are ready may keep the API
	// busy before it counts as never settling. Default 15 s.
	Settle time.Duration
	// Observe is for how long a subject at rest is watched. Default 10 s.
	Observe time.Duration
	// Delete is how long the samples may take to be gone. Default 1 min.
	Delete time.Duration
	// Stop is how long the subject may take to end after SIGTERM before it is
	// killed. Default 10 s, the half of what a kubelet grants and more than
	// controller-runtime needs.
	Stop time.Duration
	// CleanUp is how long the harness may take to put things back after the
	// trial, or after an interrupt. Default 20 s.
	CleanUp time.Duration
}

// withDefaults returns d with its zero fields filled in.
func (d Deadlines) withDefaults() Deadlines {
	for _, f := range []struct {
		field *time.Duration
		value time.Duration
	}{
		{&d.Start, 30 * time.Second},
		{&d.WebhooksServed, 30 * time.Second},
		{&d.Converge, 2 * time.Minute},
		{&d.Settle, 15 * time.Second},
		{&d.Observe, 10 * time.Second},
		{&d.Delete, time.Minute},
		{&d.Stop, 10 * time.Second},
		{&d.CleanUp, 20 * time.Second},
	} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return d
}
