package spoke

import (
	"slices"
	"strings"

	redisv1 "github.com/seatrial/seatrial/operator/api/v1"
)

// Settings that v1 has fields for.
const (
	NameMaxMemory = "maxmemory"
	NamePolicy    = "maxmemory-policy"
)

// Line is one line of redis.conf.
type Line struct{ Name, Value string }

// ParseLine splits a line at its first space. Names are the same in any case.
// A comment or an empty line has no name.
func ParseLine(text string) Line {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "#") {
		return Line{}
	}
	name, value := text, ""
	if i := strings.IndexFunc(text, isSpace); i >= 0 {
		name, value = text[:i], strings.TrimSpace(text[i:])
	}
	return Line{Name: strings.ToLower(name), Value: value}
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

// String is the line as redis.conf has it.
func (l Line) String() string {
	if l.Value == "" {
		return l.Name
	}
	return l.Name + " " + l.Value
}

// Settings are the lines of redis.conf, sorted into what v1 has for them.
type Settings struct {
	// MaxMemory and Policy are the values of those settings; the last line
	// counts, as it does for Redis.
	MaxMemory, Policy string
	// Entries are all others, ordered by name. Repeated settings are values of
	// one entry, in the order of their lines.
	Entries []redisv1.ConfigEntry
}

// Sort sorts lines. Lines without a name are left out.
func Sort(lines []Line) Settings {
	var s Settings
	for _, line := range lines {
		switch line.Name {
		case "":
		case NameMaxMemory:
			s.MaxMemory = line.Value
		case NamePolicy:
			s.Policy = line.Value
		default:
			s.add(line)
		}
	}
	return s
}

func (s *Settings) add(line Line) {
	i, found := slices.BinarySearchFunc(s.Entries, line.Name, func(e redisv1.ConfigEntry, name string) int {
		return strings.Compare(e.Name, name)
	})
	if !found {
		s.Entries = slices.Insert(s.Entries, i, redisv1.ConfigEntry{Name: line.Name})
	}
	s.Entries[i].Values = append(s.Entries[i].Values, line.Value)
}

// Lines are the lines for entries and a policy.
func Lines(entries []redisv1.ConfigEntry, policy redisv1.EvictionPolicy) []Line {
	var lines []Line
	for _, entry := range entries {
		for _, value := range entry.Values {
			lines = append(lines, Line{entry.Name, value})
		}
		if len(entry.Values) == 0 {
			lines = append(lines, Line{entry.Name, ""})
		}
	}
	if policy != "" {
		lines = append(lines, Line{NamePolicy, policy.RedisName()})
	}
	return lines
}
