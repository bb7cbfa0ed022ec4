// Package trial holds Seatrial's vocabulary and nothing else: the subject of a
// trial, the checks it is put to, their verdicts and the findings behind them.
//
// It is the lowest layer. Every other package of the harness speaks these
// words, so it imports nothing of ours, performs no I/O and knows no client.
package trial
