package trial

// Strength says how binding a check is, in the sense of RFC 2119.
type Strength string

// The strengths a check can have.
const (
	// Must marks a promise whose breach fails the trial.
	Must Strength = "MUST"
	// Should marks a promise whose breach is reported and, under the profiles
	// that ask for it, fails the trial.
	Should Strength = "SHOULD"
)

// Check describes one promise that an operator keeps or breaks. It is data:
// how it is judged stands beside it, in oracle.Invariant.
type Check struct {
	// ID names the check for ever, in kebab-case: reports, waivers and docs
	// refer to it.
	ID string `json:"id"`
	// Sentence is the promise in one sentence, with MUST or SHOULD in it.
	Sentence string `json:"sentence"`
	// Strength is the word that the sentence uses.
	Strength Strength `json:"strength"`
	// Level is the lowest level of cluster at which the check means anything.
	Level Level `json:"level"`
	// Features are what the subject must have for the check to apply.
	Features []Feature `json:"features,omitempty"`
	// Why says what goes wrong for users when the promise is broken.
	Why string `json:"why"`
	// Fix says how an operator author usually mends it.
	Fix string `json:"fix"`
	// Provenance lists where the rule comes from: an API convention, a KEP,
	// a public defect that had this shape.
	Provenance []string `json:"provenance,omitempty"`
	// Mutants names the operators in fixtures/mutant that this check, and
	// ideally no other, kills.
	Mutants []string `json:"mutants,omitempty"`
}

// Feature is something a subject may or may not have. A check that needs a
// feature the subject lacks is not applicable, which the report says.
type Feature string

// The features known so far. They are inferred from the subject's CRDs.
const (
	// FeatureStatus: the CRD enables the status subresource.
	FeatureStatus Feature = "status"
	// FeatureObservedGeneration: the status schema has observedGeneration.
	FeatureObservedGeneration Feature = "observed-generation"
	// FeatureConditions: the status schema has a list of conditions.
	FeatureConditions Feature = "conditions"
	// FeatureSamples: there is at least one sample to apply.
	FeatureSamples Feature = "samples"
)
