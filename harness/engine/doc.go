// Package engine runs a trial: it builds and starts the subject on a cluster,
// records what it does, applies its samples, waits for it to come to rest,
// deletes them again, and hands the history to the judges.
//
// It knows neither how clusters are made nor which checks exist: both are
// passed in. Its inputs are a context, a resolved subject and Options; its
// output is a report.Report, whatever happens on the way.
package engine
