package certificate

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	names = Names("webhook", "redis-system")
	lives = Lifetimes{CA: 90 * day, Serving: 30 * day, Propagation: 10 * time.Minute}
)

const day = 24 * time.Hour

// after performs actions one after the other, as at one time each.
type after struct {
	Action
	at time.Duration
}

// material returns what is in the Secret after actions, the first of which is
// performed on nothing.
func material(tb testing.TB, actions ...after) Material {
	tb.Helper()
	var m Material
	for _, a := range actions {
		authority := 0
		if a.Action == Switch || a.Action == Drop {
			authority = len(m.Authorities) - 1
		}
		var err error
		m, err = Perform(Decision{Action: a.Action, Authority: authority}, start.Add(a.at), m, lives, names)
		if err != nil {
			tb.Fatal(err)
		}
	}
	return m
}

func TestDecide(t *testing.T) {
	founded := []after{{Found, 0}}
	announced := append(slices.Clone(founded), after{Announce, 60 * day}, after{Issue, 60 * day})
	recorded := append(slices.Clone(announced), after{Record, 60*day + time.Minute})
	switched := append(slices.Clone(recorded), after{Switch, 60*day + 11*time.Minute})
	tests := map[string]struct {
		actions []after
		spoil   func(*Material)
		names   []string
		at      time.Duration
		lacking bool
		want    Decision
	}{
		"nothing is there": {
			want: Decision{Action: Found, Why: "there is no serving certificate, and no CA can sign another"},
		},
		"all is well": {
			actions: founded, at: time.Hour,
			want: Decision{Action: Nothing, Next: start.Add(20 * day)},
		},
		"all is well, and consumers that lack the bundle do not concern the Secret": {
			actions: founded, at: time.Hour, lacking: true,
			want: Decision{Action: Nothing, Next: start.Add(20 * day)},
		},
		"just before two thirds of the certificate's life": {
			actions: founded, at: 20*day - time.Second,
			want: Decision{Action: Nothing, Next: start.Add(20 * day)},
		},
		"two thirds of the certificate's life are over": {
			actions: founded, at: 20 * day,
			want: Decision{Action: Issue, Why: "two thirds of the certificate's life are over"},
		},
		"the certificate has expired while nobody looked": {
			actions: founded, at: 30*day + time.Second,
			want: Decision{Action: Issue, Why: "the certificate is not valid now"},
		},
		"the CA has expired as well": {
			actions: founded, at: 91 * day,
			want: Decision{Action: Found, Why: "the certificate is not valid now, and no CA can sign another"},
		},
		"the clock is behind by less than certificates are backdated": {
			actions: founded, at: -59 * time.Minute,
			want: Decision{Action: Nothing, Next: start.Add(20 * day)},
		},
		"the clock is behind by more": {
			actions: founded, at: -61 * time.Minute,
			want: Decision{Action: Found, Why: "the certificate is not valid now, and no CA can sign another"},
		},
		"the Service has another name": {
			actions: founded, at: time.Hour, names: Names("other", "redis-system"),
			want: Decision{Action: Issue, Why: "the certificate is not for other"},
		},
		"the certificate is gone": {
			actions: founded, at: time.Hour,
			spoil: func(m *Material) { m.Serving = nil },
			want:  Decision{Action: Issue, Why: "there is no serving certificate"},
		},
		"the certificate is of a CA that is not trusted": {
			actions: founded, at: time.Hour,
			spoil: func(m *Material) { m.Authorities = material(t, after{Found, 0}).Authorities },
			want:  Decision{Action: Issue, Why: "no trusted CA vouches for the certificate"},
		},
		"the bundle is gone": {
			actions: founded, at: time.Hour,
			spoil: func(m *Material) { m.Authorities = nil },
			want:  Decision{Action: Found, Why: "no trusted CA vouches for the certificate, and no CA can sign another"},
		},
		"the CA's key is lost, and the certificate good": {
			actions: founded, at: time.Hour,
			spoil: func(m *Material) { m.Authorities[0].Key = nil },
			want:  Decision{Action: Announce, Why: "the key of the CA is lost"},
		},
		"the CA's key is lost, and so is the certificate": {
			actions: founded, at: time.Hour,
			spoil: func(m *Material) { m.Authorities[0].Key, m.Serving = nil, nil },
			want:  Decision{Action: Found, Why: "there is no serving certificate, and no CA can sign another"},
		},
		"two thirds of the CA's life are over": {
			actions: append(slices.Clone(founded), after{Issue, 59 * day}), at: 60 * day,
			want: Decision{Action: Announce, Why: "two thirds of the CA's life are over"},
		},
		"a new CA waits for the consumers": {
			actions: announced, at: 60*day + time.Hour, lacking: true,
			// The certificate ends with its CA, so there is nothing to renew.
			want: Decision{Action: Nothing, Next: start.Add(90*day + time.Second)},
		},
		"every consumer has the new CA": {
			actions: announced, at: 60*day + time.Minute,
			want: Decision{Action: Record, Why: "every consumer carries the bundle"},
		},
		"the new CA spreads": {
			actions: recorded, at: 60*day + 11*time.Minute - 1,
			want: Decision{Action: Nothing, Next: start.Add(60*day + 11*time.Minute)},
		},
		"a consumer loses the new CA while it spreads": {
			actions: recorded, at: 60*day + 5*time.Minute, lacking: true,
			want: Decision{Action: Withdraw, Why: "a consumer does not carry the bundle any more"},
		},
		"a consumer loses the new CA at the last moment": {
			actions: recorded, at: 60*day + 11*time.Minute, lacking: true,
			want: Decision{Action: Withdraw, Why: "a consumer does not carry the bundle any more"},
		},
		"the new CA has spread": {
			actions: recorded, at: 60*day + 11*time.Minute,
			want: Decision{Action: Switch, Authority: 1, Why: "every consumer has carried the new CA long enough"},
		},
		"the consumers were seen to carry it by a clock that was ahead a little": {
			actions: recorded, at: 60*day + time.Second,
			want: Decision{Action: Nothing, Next: start.Add(60*day + 11*time.Minute)},
		},
		"the consumers were seen to carry it by a clock that was wrong": {
			actions: append(slices.Clone(announced), after{Record, 80 * day}), at: 60*day + time.Minute,
			want: Decision{Action: Record, Why: "every consumer carries the bundle"},
		},
		"the certificate is to be renewed while the consumers keep the new CA waiting": {
			actions: []after{{Found, 0}, {Issue, 30 * day}, {Announce, 45 * day}}, at: 50 * day, lacking: true,
			want: Decision{Action: Issue, Why: "two thirds of the certificate's life are over"},
		},
		"the key of the old CA is lost, so its certificate cannot be renewed": {
			actions: []after{{Found, 0}, {Issue, 30 * day}, {Announce, 45 * day}}, at: 50 * day, lacking: true,
			spoil: func(m *Material) { m.Authorities[0].Key = nil },
			want:  Decision{Action: Nothing, Next: start.Add(60*day + time.Second)},
		},
		"the certificate expires while the consumers keep the new CA waiting": {
			actions: []after{{Found, 0}, {Issue, 30 * day}, {Announce, 45 * day}}, at: 60*day + time.Second, lacking: true,
			want: Decision{Action: Issue, Why: "the certificate is not valid now"},
		},
		"the old CA expires while the consumers keep the new one waiting": {
			actions: announced, at: 90*day + time.Second, lacking: true,
			want: Decision{Action: Issue, Authority: 1, Why: "the certificate is not valid now"},
		},
		"the old CA was served with a moment ago": {
			actions: switched, at: 60*day + 21*time.Minute - 1,
			want: Decision{Action: Nothing, Next: start.Add(60*day + 21*time.Minute)},
		},
		"the old CA has not been served with for long enough": {
			actions: switched, at: 60*day + 21*time.Minute,
			want: Decision{Action: Drop, Authority: 1, Why: "nothing has been served with the other CAs for long enough"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := material(t, tc.actions...)
			if tc.spoil != nil {
				tc.spoil(&m)
			}
			wanted := names
			if tc.names != nil {
				wanted = tc.names
			}
			got := Decide(start.Add(tc.at), m, lives, wanted, !tc.lacking)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("decision (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEveryDecisionLeadsOn makes sure that no state is decided on for ever:
// whatever is there, a few actions lead to a certificate that is of use.
func TestEveryDecisionLeadsOn(t *testing.T) {
	full := material(t, after{Found, 0}, after{Announce, day}, after{Record, day})
	for lost := range 1 << 6 {
		m := Material{Authorities: slices.Clone(full.Authorities), Serving: full.Serving, Published: full.Published}
		if lost&1 != 0 {
			m.Authorities[0].Key = nil
		}
		if lost&2 != 0 {
			m.Authorities[1].Key = nil
		}
		if lost&4 != 0 {
			m.Serving = nil
		}
		if lost&8 != 0 {
			m.Published = time.Time{}
		}
		if lost&16 != 0 {
			m.Authorities = m.Authorities[1:]
		}
		if lost&32 != 0 {
			slices.Reverse(m.Authorities)
		}
		for _, at := range []time.Duration{-400 * day, 0, day, 29 * day, 31 * day, 89 * day, 400 * day} {
			if m, ok := settle(t, start.Add(at), m); !ok {
				t.Errorf("with loss %06b, looked at after %s: never settled, last %d CAs", lost, at, len(m.Authorities))
			}
		}
	}
}

// settle performs decisions, with the time standing still, until there is
// nothing to do, and reports whether that came to pass with a certificate that
// is of use and a time to look again that lies ahead.
func settle(t *testing.T, now time.Time, m Material) (Material, bool) {
	t.Helper()
	for range 6 {
		d := Decide(now, m, lives, names, true)
		if d.Action == Nothing {
			issuer, _ := m.issuer(now, names)
			return m, issuer >= 0 && d.Next.After(now)
		}
		var err error
		if m, err = Perform(d, now, m, lives, names); err != nil {
			t.Fatal(err)
		}
	}
	return m, false
}
