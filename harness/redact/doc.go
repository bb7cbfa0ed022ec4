// Package redact keeps the values of Secrets and the tokens of
// ServiceAccounts out of histories, which people publish.
//
// Each value becomes a symbol, "redacted:" and twelve hexadecimal digits of a
// salted hash. Two symbols of one Redactor are equal exactly when the values
// are, so that a judge still sees whether a value changed. Keys stay as they
// are, and so does null, which deletes a key in a patch. The salt is random
// and kept nowhere: a symbol cannot be compared with guesses, nor with one of
// another Redactor. Whoever shares a history shares one Redactor.
package redact
