package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/seatrial/seatrial/harness/trial"
)

// words returns the verdict as it stands in a sentence such as "2 failed".
func words(v trial.Verdict) string {
	switch v {
	case trial.Pass:
		return "passed"
	case trial.Fail:
		return "failed"
	case trial.NotApplicable:
		return "not applicable"
	default:
		return string(v)
	}
}

// headline says in one sentence how the trial ended.
func headline(r *Report) string {
	failed, passed, total := r.Summary[trial.Fail], r.Summary[trial.Pass], len(r.Results)
	switch open := r.Summary[trial.Inconclusive]; {
	case failed > 0:
		return fmt.Sprintf("%s failed %s", r.Subject.Name, ofChecks(failed, total))
	case r.Partial:
		return fmt.Sprintf("The trial of %s ended early", r.Subject.Name)
	case open > 0:
		return fmt.Sprintf("%s of %s could not be judged", ofChecks(open, total), r.Subject.Name)
	case passed == 0:
		return fmt.Sprintf("No check of %s was judged", r.Subject.Name)
	case passed == 1:
		return fmt.Sprintf("%s kept its promise", r.Subject.Name)
	default:
		return fmt.Sprintf("%s kept all %d promises", r.Subject.Name, passed)
	}
}

func ofChecks(n, total int) string {
	return fmt.Sprintf("%d of %s", n, plural(total, "check"))
}

// counts lists how many checks got each verdict, those that none got apart.
func counts(r *Report) string {
	var parts []string
	for _, v := range trial.Verdicts() {
		if n := r.Summary[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, words(v)))
		}
	}
	return strings.Join(append([]string{plural(len(r.Results), "check")}, strings.Join(parts, ", ")), ": ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// offset formats a time since the start of the trial.
func offset(d time.Duration) string {
	return fmt.Sprintf("%+.3fs", d.Seconds())
}

// seconds formats a duration for readers: milliseconds below one second.
func seconds(d time.Duration) string {
	switch {
	case d <= 0:
		return "0s"
	case d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return d.Round(time.Second).String()
	}
}

// fact is something that is known of a finding.
type fact struct{ name, value string }

// facts are what is known of the finding besides its summary.
func (f Finding) facts() []fact {
	return slices.DeleteFunc([]fact{
		{"object", f.Object.String()},
		{"expected", f.Expected},
		{"paths", strings.Join(f.Paths, ", ")},
		{"hint", f.Hint},
	}, func(known fact) bool { return known.value == "" })
}

// what names the object of an entry, subresource included.
func (e Entry) what() string {
	what := e.Object.String()
	if e.Subresource != "" {
		what += " (" + e.Subresource + ")"
	}
	return what
}

// line describes the entry in one line.
func (e Entry) line() string {
	parts := []string{fmt.Sprintf("#%d", e.Seq), offset(e.Offset), string(e.Actor), e.Verb, e.what()}
	if e.Actor == ActorOperator && e.Code > 0 {
		parts = append(parts, strconv.Itoa(e.Code))
	}
	parts = append(parts, e.Summary)
	return strings.Join(strings.Fields(printable(strings.Join(parts, " "))), " ")
}

// line describes the change of a path in one line.
func (c PathChange) line() string {
	switch {
	case c.Before == "":
		return printable(fmt.Sprintf("+ %s: %s", c.Path, c.After))
	case c.After == "":
		return printable(fmt.Sprintf("- %s: %s", c.Path, c.Before))
	default:
		return printable(fmt.Sprintf("~ %s: %s → %s", c.Path, c.Before, c.After))
	}
}

// printable replaces what could move the cursor of a terminal, or that XML has
// no place for; what the subject says ends up in reports.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), !xmlCharacter(r):
			return unicode.ReplacementChar
		default:
			return r
		}
	}, s)
}

// xmlCharacter reports whether XML 1.0 allows the character.
func xmlCharacter(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' ||
		r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD || r >= 0x10000
}
