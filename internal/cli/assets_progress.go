package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/seatrial/seatrial/harness/assets"
)

// assetsLineInterval is how often progress is told in lines, where standard
// error is not a terminal.
const assetsLineInterval = 10 * time.Second

// assetsProgress shows how programs are got: a bar on a terminal, else lines.
type assetsProgress struct {
	out io.Writer
	// bars is nil where lines are written.
	bars *mpb.Progress

	mu  sync.Mutex
	bar *mpb.Bar
	// last was written as a line.
	last assets.Event
	// text stands before the bar, which reads it without the lock.
	text atomic.Value
}

func newAssetsProgress(out io.Writer) *assetsProgress {
	p := &assetsProgress{out: out}
	if f, ok := out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		p.bars = mpb.New(mpb.WithOutput(f), mpb.WithWidth(32))
	}
	return p
}

// event shows one event.
func (p *assetsProgress) event(e assets.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.bars != nil && e.Stage == assets.StageNotice:
		fmt.Fprintln(p.bars, describeEvent(e))
	case p.bars != nil:
		p.draw(e)
	case e.Stage == assets.StageNotice:
		fmt.Fprintln(p.out, describeEvent(e))
	case e.Stage != p.last.Stage || e.Subject != p.last.Subject || e.Elapsed-p.last.Elapsed >= assetsLineInterval:
		fmt.Fprintln(p.out, describeEvent(e))
		p.last = e
	}
}

// draw shows an event as a bar. The caller holds the lock.
func (p *assetsProgress) draw(e assets.Event) {
	p.text.Store(describeEvent(e) + " ")
	if p.bar == nil {
		text := func(decor.Statistics) string { return p.text.Load().(string) }
		p.bar = p.bars.New(0, mpb.BarStyle(), mpb.PrependDecorators(decor.Any(text)), mpb.BarRemoveOnComplete())
	}
	if e.Stage == assets.StageLink {
		e.Done, e.Total = 1, 1 // all is compiled
	}
	p.bar.SetTotal(e.Total, false)
	p.bar.SetCurrent(e.Done)
}

// close ends the bar, so that what is written next stands below nothing. It may
// be called more than once; no events follow it.
func (p *assetsProgress) close() {
	p.mu.Lock()
	bars, bar := p.bars, p.bar
	p.bars, p.bar = nil, nil
	p.mu.Unlock()
	if bar != nil {
		bar.Abort(true)
	}
	if bars != nil {
		bars.Wait()
	}
}

// describeEvent says an event in one line.
func describeEvent(e assets.Event) string {
	text := e.Subject + ": "
	switch e.Stage {
	case assets.StageNotice:
		return text + e.Message
	case assets.StageDownload:
		text += "downloaded " + mebibytes(e.Done)
		if e.Total > 0 {
			text += " of " + mebibytes(e.Total)
		}
	case assets.StageModules:
		text += fmt.Sprintf("resolving modules, %d downloaded", e.Done)
	case assets.StageCompile:
		text += fmt.Sprintf("compiled %d of %d packages", e.Done, e.Total)
	case assets.StageLink:
		text += "linking"
	default:
		text += e.Message
	}
	return text + ", " + e.Elapsed.Round(time.Second).String()
}
