package report

import (
	"time"

	"github.com/seatrial/seatrial/harness/history"
	"github.com/seatrial/seatrial/harness/trial"
)

// The header of a report.
const (
	APIVersion = "seatrial.dev/v1alpha1"
	Kind       = "ConformanceReport"
)

// Report says what became of every check of the catalogue in one trial.
type Report struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// ToolVersion is that of the seatrial that ran the trial.
	ToolVersion string `json:"toolVersion"`
	// CatalogueVersion is that of the checks.
	CatalogueVersion string  `json:"catalogueVersion"`
	Subject          Subject `json:"subject"`
	Cluster          Cluster `json:"cluster"`
	// Command is the command line of the trial.
	Command  []string  `json:"command,omitempty"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Phases   []Phase   `json:"phases,omitempty"`
	// Inferred are the facts about the subject that its file left open, one
	// sentence each.
	Inferred []string `json:"inferred,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Partial marks the report of a trial that ended early; PartialReason says
	// why.
	Partial       bool   `json:"partial,omitempty"`
	PartialReason string `json:"partialReason,omitempty"`
	// Summary counts the results by verdict; every verdict is there.
	Summary map[trial.Verdict]int `json:"summary"`
	History HistoryStats          `json:"history"`
	// Results are in the order of the catalogue.
	Results []Result `json:"results"`
}

// Subject names the operator that was on trial.
type Subject struct {
	Name string `json:"name"`
	// File is the path of the subject file, as the user gave it.
	File string `json:"file,omitempty"`
}

// Cluster is what the subject ran on.
type Cluster struct {
	Level trial.Level `json:"level,omitempty"`
	// Version is what the API server says it is, such as "v1.37.2".
	Version  string    `json:"version,omitempty"`
	Programs []Program `json:"programs,omitempty"`
}

// Program is one program of the cluster and where it came from.
type Program struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Source  string `json:"source,omitempty"`
}

// Phase is one part of the trial.
type Phase struct {
	Name     string        `json:"name"`
	Started  time.Time     `json:"started"`
	Duration time.Duration `json:"durationNanoseconds"`
}

// HistoryStats says how much was seen.
type HistoryStats struct {
	// Requests are those of the operator; Writes are the ones among them that
	// asked for a change, dry runs apart.
	Requests int `json:"requests"`
	Writes   int `json:"writes"`
	// Changes are the object versions that the direct watch delivered.
	Changes int `json:"changes"`
}

// Result is what became of one check, its evidence rendered.
type Result struct {
	Check    trial.Check   `json:"check"`
	Verdict  trial.Verdict `json:"verdict"`
	Reason   string        `json:"reason,omitempty"`
	Findings []Finding     `json:"findings,omitempty"`
	// Duration is the time that judging took.
	Duration time.Duration `json:"durationNanoseconds"`
}

// Finding is one way in which a check was broken, with the history entries
// that its Evidence refers to: the first of them where there are very many,
// MoreTimeline then counts the others.
type Finding struct {
	trial.Finding
	Timeline     []Entry `json:"timeline,omitempty"`
	MoreTimeline int     `json:"moreTimeline,omitempty"`
}

// Input is what New makes a report of. Its fields mean what the fields of
// Report of the same name do.
type Input struct {
	ToolVersion      string
	CatalogueVersion string
	Subject          Subject
	Cluster          Cluster
	Command          []string
	Started          time.Time
	Finished         time.Time
	Phases           []Phase
	Inferred         []string
	Warnings         []string
	Partial          bool
	PartialReason    string
	Results          []trial.Result
	// History is what the findings' evidence refers to.
	History history.History
}

// New makes the report of a trial.
func New(in Input) *Report {
	r := &Report{
		APIVersion: APIVersion, Kind: Kind,
		ToolVersion: in.ToolVersion, CatalogueVersion: in.CatalogueVersion,
		Subject: in.Subject, Cluster: in.Cluster, Command: in.Command,
		Started: in.Started, Finished: in.Finished, Phases: in.Phases,
		Inferred: in.Inferred, Warnings: in.Warnings,
		Partial: in.Partial, PartialReason: in.PartialReason,
		Summary: map[trial.Verdict]int{},
		History: stats(in.History),
		Results: make([]Result, 0, len(in.Results)),
	}
	for _, v := range trial.Verdicts() {
		r.Summary[v] = 0
	}
	renderer := newRenderer(in.History, in.Started)
	for _, result := range in.Results {
		r.Summary[result.Verdict]++
		r.Results = append(r.Results, renderer.result(result))
	}
	return r
}

// stats counts what was seen.
func stats(h history.History) HistoryStats {
	var s HistoryStats
	for _, request := range h.Requests() {
		s.Requests++
		if request.Verb.Mutates() && !request.DryRun {
			s.Writes++
		}
	}
	for range h.Changes() {
		s.Changes++
	}
	return s
}

// ExitCode returns what a program that ran the trial exits with: 1 if a check
// failed, whatever its strength; else 3 if one is inconclusive or the report is
// partial; else 0.
func ExitCode(r *Report) int {
	switch {
	case r.Summary[trial.Fail] > 0:
		return 1
	case r.Summary[trial.Inconclusive] > 0 || r.Partial:
		return 3
	default:
		return 0
	}
}
