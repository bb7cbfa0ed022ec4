// Package process starts programs that never outlive the process that started
// them, not even when that one is killed.
//
// A Group has a guardian: a small shell that waits on a pipe of which only the
// owner holds the other end. When the owner ends, however it ends, the pipe
// closes, and the guardian kills the whole group and removes the directories
// that it was told of. PR_SET_PDEATHSIG is no alternative: it is Linux only,
// and bound to the thread that forked, which the Go runtime ends at will.
package process
