package certificate

import (
	"slices"
	"time"
)

// Perform carries a decision out on a material and returns what is then to be
// in the Secret. The material itself is not changed.
func Perform(d Decision, now time.Time, m Material, l Lifetimes, names []string) (Material, error) {
	m.Authorities = slices.Clone(m.Authorities)
	switch d.Action {
	case Nothing:
	case Found:
		return m.found(now, l, names)
	case Issue:
		return m.serve(now, l, names, d.Authority)
	case Announce:
		return m.announce(now, l)
	case Record:
		m.Published = now
	case Withdraw:
		m.Published = time.Time{}
	case Switch:
		for i := range m.Authorities {
			if i != d.Authority {
				m.Authorities[i].Key = nil
			}
		}
		return m.serve(now, l, names, d.Authority)
	case Drop:
		m.Authorities = []Authority{m.Authorities[d.Authority]}
		m.Published = time.Time{}
	}
	return m, nil
}

// found keeps CAs that may still be valid for somebody: a replica serves with
// the last good certificate until it has seen the new one.
func (m Material) found(now time.Time, l Lifetimes, names []string) (Material, error) {
	m.Authorities = slices.DeleteFunc(m.Authorities, func(a Authority) bool {
		return now.After(a.Certificate.NotAfter)
	})
	for i := range m.Authorities {
		m.Authorities[i].Key = nil
	}
	m, err := m.announce(now, l)
	if err != nil {
		return Material{}, err
	}
	return m.serve(now, l, names, len(m.Authorities)-1)
}

func (m Material) announce(now time.Time, l Lifetimes) (Material, error) {
	ca, err := newAuthority(now, l.CA)
	if err != nil {
		return Material{}, err
	}
	m.Authorities = append(m.Authorities, ca)
	m.Published = time.Time{}
	return m, nil
}

func (m Material) serve(now time.Time, l Lifetimes, names []string, authority int) (Material, error) {
	made, err := newServing(now, l.Serving, names, m.Authorities[authority])
	if err != nil {
		return Material{}, err
	}
	m.Serving = made
	return m, nil
}
