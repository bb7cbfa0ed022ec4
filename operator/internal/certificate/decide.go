package certificate

import (
	"crypto/x509"
	"fmt"
	"slices"
	"time"
)

// Lifetimes says how long certificates live and how long changes take.
type Lifetimes struct {
	// CA is how long a CA is valid. It is rotated at two thirds of that.
	CA time.Duration
	// Serving is how long a serving certificate is valid. It is renewed at two
	// thirds of that.
	Serving time.Duration
	// Propagation is how long it may take until every API server goes by a
	// caBundle, and every replica of the operator by the Secret.
	Propagation time.Duration
}

// Lifetimes where none are given.
const (
	DefaultCALife      = 365 * 24 * time.Hour
	DefaultServingLife = 90 * 24 * time.Hour
	DefaultPropagation = 10 * time.Minute
)

func (l Lifetimes) withDefaults() Lifetimes {
	if l.CA <= 0 {
		l.CA = DefaultCALife
	}
	if l.Serving <= 0 {
		l.Serving = DefaultServingLife
	}
	if l.Propagation <= 0 {
		l.Propagation = DefaultPropagation
	}
	return l
}

// Action is what to do with the Secret.
type Action string

const (
	// Nothing leaves the Secret as it is.
	Nothing Action = "nothing"
	// Found makes a CA and serves with a certificate of it at once, because
	// there is nothing to go on with.
	Found Action = "found"
	// Issue makes a new serving certificate.
	Issue Action = "issue"
	// Announce makes a new CA that is trusted beside the old one.
	Announce Action = "announce"
	// Record notes that every consumer carries the bundle.
	Record Action = "record"
	// Withdraw takes that note back, because a consumer does not.
	Withdraw Action = "withdraw"
	// Switch serves with a certificate of the new CA and forgets the keys of
	// the others.
	Switch Action = "switch"
	// Drop ends the trust in all CAs but the one that is served with.
	Drop Action = "drop"
)

// Decision is what to do with the Secret, and why.
type Decision struct {
	Action Action
	// Authority is the place of the CA that Issue and Switch sign with, and
	// that Drop leaves.
	Authority int
	Why       string
	// Next is when to look again, set if there is nothing to do.
	Next time.Time
}

// Decide says what is to be done with the Secret next. carried is whether
// every consumer was seen to carry the material's bundle.
func Decide(now time.Time, m Material, l Lifetimes, names []string, carried bool) Decision {
	issuer, fault := m.issuer(now, names)
	newest := m.lastSigner(now)
	switch {
	case issuer < 0:
		if signer := m.firstSigner(now); signer >= 0 {
			return Decision{Action: Issue, Authority: signer, Why: fault}
		}
		return Decision{Action: Found, Why: fault + ", and no CA can sign another"}
	case newest > issuer:
		return m.decideOverlap(now, l, issuer, newest, carried)
	case newest < issuer:
		return Decision{Action: Announce, Why: "the key of the CA is lost"}
	default:
		return m.decideSteady(now, l, issuer)
	}
}

// decideOverlap decides while a new CA has been announced and the old one is
// served with.
func (m Material) decideOverlap(now time.Time, l Lifetimes, issuer, newest int, carried bool) Decision {
	// A note from the future was made by a clock that was wrong.
	noted := !m.Published.IsZero() && !m.Published.After(now.Add(backdate))
	ripe := m.Published.Add(l.Propagation)
	renewal, renewable := m.renewal(issuer)
	switch {
	case noted && !carried:
		return Decision{Action: Withdraw, Why: "a consumer does not carry the bundle any more"}
	case noted && !now.Before(ripe):
		return Decision{Action: Switch, Authority: newest, Why: "every consumer has carried the new CA long enough"}
	case renewable && !now.Before(renewal):
		return Decision{Action: Issue, Authority: issuer, Why: "two thirds of the certificate's life are over"}
	case carried && !noted:
		return Decision{Action: Record, Why: "every consumer carries the bundle"}
	}
	return Decision{Action: Nothing, Next: m.next(when{renewal, renewable}, when{ripe, noted})}
}

// decideSteady decides while no CA waits to be served with.
func (m Material) decideSteady(now time.Time, l Lifetimes, issuer int) Decision {
	rotation := renewAt(m.Authorities[issuer].Certificate)
	unused := madeAt(m.Serving.Certificate).Add(l.Propagation)
	renewal, renewable := m.renewal(issuer)
	spare := len(m.Authorities) > 1
	switch {
	case spare && !now.Before(unused):
		return Decision{Action: Drop, Authority: issuer, Why: "nothing has been served with the other CAs for long enough"}
	case !now.Before(rotation):
		return Decision{Action: Announce, Why: "two thirds of the CA's life are over"}
	case renewable && !now.Before(renewal):
		return Decision{Action: Issue, Authority: issuer, Why: "two thirds of the certificate's life are over"}
	}
	return Decision{Action: Nothing, Next: m.next(when{rotation, true}, when{renewal, renewable}, when{unused, spare})}
}

// issuer returns the place of the CA that vouches for the serving certificate,
// or -1 and why the certificate is of no use.
func (m Material) issuer(now time.Time, names []string) (int, string) {
	if m.Serving == nil {
		return -1, "there is no serving certificate"
	}
	for _, name := range names {
		if m.Serving.Certificate.VerifyHostname(name) != nil {
			return -1, fmt.Sprintf("the certificate is not for %s", name)
		}
	}
	for i, a := range m.Authorities {
		roots := x509.NewCertPool()
		roots.AddCert(a.Certificate)
		_, err := m.Serving.Certificate.Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now})
		if err == nil {
			return i, ""
		}
	}
	if !validAt(m.Serving.Certificate, now) {
		return -1, "the certificate is not valid now"
	}
	return -1, "no trusted CA vouches for the certificate"
}

// firstSigner returns the place of the oldest CA that can sign now: the one
// that consumers have known longest. It is -1 if there is none.
func (m Material) firstSigner(now time.Time) int {
	for i, a := range m.Authorities {
		if a.canSign(now) {
			return i
		}
	}
	return -1
}

// lastSigner returns the place of the newest CA that can sign now, or -1.
func (m Material) lastSigner(now time.Time) int {
	for i, a := range slices.Backward(m.Authorities) {
		if a.canSign(now) {
			return i
		}
	}
	return -1
}

func (a Authority) canSign(now time.Time) bool { return a.Key != nil && validAt(a.Certificate, now) }

// renewal returns when the serving certificate is to be renewed by its own
// CA, and whether it can be: a CA that has no key cannot do it, and one that
// ends when the certificate does would only give the same again.
func (m Material) renewal(issuer int) (time.Time, bool) {
	ca := m.Authorities[issuer]
	possible := ca.Key != nil && m.Serving.Certificate.NotAfter.Before(ca.Certificate.NotAfter)
	return renewAt(m.Serving.Certificate), possible
}

// when is a time at which there will be something to do, if it applies.
type when struct {
	time.Time
	applies bool
}

// next returns the first of the times that apply, or when the serving
// certificate has ended if that is earlier.
func (m Material) next(times ...when) time.Time {
	first := m.Serving.Certificate.NotAfter.Add(time.Second)
	for _, t := range times {
		if t.applies && t.Before(first) {
			first = t.Time
		}
	}
	return first
}
