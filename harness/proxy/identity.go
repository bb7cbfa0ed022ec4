package proxy

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
)

// identities reads user names out of credentials. It remembers what it read:
// a subject sends the same token with every request.
type identities struct {
	mu    sync.Mutex
	known map[string]string
}

// knownIdentities bounds the memory. Tokens are renewed every hour or so.
const knownIdentities = 64

func newIdentities() *identities { return &identities{known: map[string]string{}} }

// user returns the user that a request is made as: the one it impersonates,
// else the one that its credentials claim to be of, else nothing. Claims are
// not verified; the API server does that.
func (i *identities) user(h http.Header) string {
	if impersonated := h.Get("Impersonate-User"); impersonated != "" {
		return impersonated
	}
	authorization := h.Get("Authorization")
	if authorization == "" {
		return ""
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	name, ok := i.known[authorization]
	if !ok {
		if len(i.known) == knownIdentities {
			clear(i.known)
		}
		name = claimed(authorization)
		i.known[authorization] = name
	}
	return name
}

// claimed returns the user that an Authorization header names.
func claimed(authorization string) string {
	scheme, credentials, _ := strings.Cut(authorization, " ")
	credentials = strings.TrimSpace(credentials)
	switch strings.ToLower(scheme) {
	case "bearer":
		return subjectOf(credentials)
	case "basic":
		if pair, err := base64.StdEncoding.DecodeString(credentials); err == nil {
			name, _, _ := strings.Cut(string(pair), ":")
			return name
		}
	}
	return ""
}

// subjectOf returns the claim "sub" of a JSON Web Token (RFC 7519, 4.1.2).
func subjectOf(token string) string {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return ""
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return ""
	}
	var claims struct {
		Subject string `json:"sub"`
	}
	if err := json.Unmarshal(payload, &claims); err != nil {
		return ""
	}
	return claims.Subject
}
