// Package mutants puts the operators of fixtures/mutant on trial: each must be
// failed by the check that names it, and by no other.
package mutants
