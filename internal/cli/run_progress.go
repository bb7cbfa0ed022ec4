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
	"github.com/seatrial/seatrial/harness/engine"
)

// phaseTexts say what goes on in each phase.
var phaseTexts = map[engine.Phase]string{
	engine.PhasePrepare:  "building the operator and starting the control plane",
	engine.PhaseInstall:  "installing CRDs and manifests",
	engine.PhaseStart:    "starting the operator",
	engine.PhaseConverge: "applying samples, waiting until they are ready and the API is at rest",
	engine.PhaseObserve:  "watching the operator at rest",
	engine.PhaseDelete:   "deleting samples, waiting until they and what they owned are gone",
	engine.PhaseStop:     "stopping everything",
}

// runProgress shows how a trial goes: a spinner on a terminal, and on any
// output a line for what is worth keeping.
type runProgress struct {
	out io.Writer
	// bars is nil where there is no terminal.
	bars *mpb.Progress
	bar  *mpb.Bar
	text atomic.Value

	mu       sync.Mutex
	closed   bool
	lastTold assets.Event
}

func newRunProgress(out io.Writer, quiet bool) *runProgress {
	if quiet {
		return &runProgress{out: io.Discard}
	}
	p := &runProgress{out: out}
	if f, ok := out.(*os.File); ok && isTerminal(f) {
		p.text.Store("")
		p.bars = mpb.New(mpb.WithOutput(f), mpb.WithRefreshRate(100*time.Millisecond))
		text := func(decor.Statistics) string { return " " + p.text.Load().(string) + " " }
		p.bar = p.bars.New(0, mpb.SpinnerStyle().PositionLeft(), mpb.BarWidth(2),
			mpb.AppendDecorators(decor.Any(text), decor.Elapsed(decor.ET_STYLE_GO)), mpb.BarRemoveOnComplete())
		p.out = p.bars
	}
	return p
}

// event shows a step of the trial.
func (p *runProgress) event(e engine.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
	case e.Done:
		fmt.Fprintf(p.out, "%-9s %5.1fs\n", e.Phase, e.Took.Seconds())
	case e.Message != "":
		fmt.Fprintf(p.out, "  %s\n", e.Message)
	case p.bars != nil:
		p.text.Store(phaseTexts[e.Phase])
	default:
		fmt.Fprintf(p.out, "%-9s %s\n", e.Phase, phaseTexts[e.Phase])
	}
}

// asset shows how the programs of the control plane are got.
func (p *runProgress) asset(e assets.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
	case e.Stage == assets.StageNotice:
		fmt.Fprintf(p.out, "  %s\n", describeEvent(e))
	case p.bars != nil:
		p.text.Store(describeEvent(e))
	case e.Stage != p.lastTold.Stage || e.Subject != p.lastTold.Subject || e.Elapsed-p.lastTold.Elapsed >= assetsLineInterval:
		fmt.Fprintf(p.out, "  %s\n", describeEvent(e))
		p.lastTold = e
	}
}

// close takes the spinner away. It may be called more than once.
func (p *runProgress) close() {
	p.mu.Lock()
	closed := p.closed
	p.closed = true
	p.mu.Unlock()
	if !closed && p.bars != nil {
		p.bar.Abort(true)
		p.bars.Wait()
	}
}

// isTerminal reports whether w is one.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
