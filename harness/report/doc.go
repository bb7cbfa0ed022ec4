// Package report is the document that a trial ends in: which promises the
// subject kept, which it broke, and what was seen that says so.
//
// A Report is complete in itself: the history entries that a finding refers to
// are rendered into it, so that nobody needs the history to read it. New makes
// one from what the engine collected and is pure; the Write functions turn it
// into JSON, one HTML page, JUnit and text for a terminal.
package report
