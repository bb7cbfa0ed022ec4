package engine

import (
	"cmp"
	"time"
)

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
	// Observe is for how long a subject at rest is watched. Default 20 s:
	// what is done each ten seconds is then seen twice.
	Observe time.Duration
	// Delete is how long the samples may take to be gone. Default 1 min.
	Delete time.Duration
	// Stop is how long the subject may take to end after SIGTERM before it is
	// killed. Default 10 s, a third of what a kubelet grants.
	Stop time.Duration
	// CleanUp is how long the harness may take to put things back after the
	// trial, or after an interrupt. Default 20 s.
	CleanUp time.Duration
}

// DefaultDeadlines returns the defaults.
func DefaultDeadlines() Deadlines {
	return Deadlines{
		Start:          30 * time.Second,
		WebhooksServed: 30 * time.Second,
		Converge:       2 * time.Minute,
		Settle:         15 * time.Second,
		Observe:        20 * time.Second,
		Delete:         time.Minute,
		Stop:           10 * time.Second,
		CleanUp:        20 * time.Second,
	}
}

// withDefaults returns d with its zero fields filled in.
func (d Deadlines) withDefaults() Deadlines {
	defaults := DefaultDeadlines()
	return Deadlines{
		Start:          cmp.Or(d.Start, defaults.Start),
		WebhooksServed: cmp.Or(d.WebhooksServed, defaults.WebhooksServed),
		Converge:       cmp.Or(d.Converge, defaults.Converge),
		Settle:         cmp.Or(d.Settle, defaults.Settle),
		Observe:        cmp.Or(d.Observe, defaults.Observe),
		Delete:         cmp.Or(d.Delete, defaults.Delete),
		Stop:           cmp.Or(d.Stop, defaults.Stop),
		CleanUp:        cmp.Or(d.CleanUp, defaults.CleanUp),
	}
}
