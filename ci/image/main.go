// Image builds the operator's container image without a base image and without
// a container engine: the same commit and the same Go release give the same
// bytes, wherever and whenever it runs. `make image` runs it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "image: %v (see -help)\n", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// errUsage is a mistake on the command line.
var errUsage = errors.New("wrong usage")

// arguments are what the command line says.
type arguments struct {
	tag      name.Tag
	push     *name.Tag
	out      string
	root     string
	version  string
	revision string
}

func parse(args []string, help io.Writer) (arguments, error) {
	var a arguments
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	image := flags.String("image", "rediscluster-operator:dev", "the `name:tag` of the image in the files that are written")
	push := flags.String("push", "", "upload to this `registry/repository:tag`, with the credentials of docker login")
	flags.StringVar(&a.out, "out", "dist/image", "the `directory` that gets the image")
	flags.StringVar(&a.root, "root", ".", "the `directory` of the repository")
	flags.StringVar(&a.version, "version", "", "the `version` of the programs, instead of what git describe says")
	flags.StringVar(&a.revision, "revision", "", "the `commit` of the sources, instead of what git says")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(help)
		fmt.Fprint(help, "Builds the operator's container image for every architecture.\n\n"+
			"The time in the image is SOURCE_DATE_EPOCH, or else that of the commit.\n\n")
		flags.PrintDefaults()
		return a, err
	} else if err != nil {
		return a, fmt.Errorf("%w: %w", errUsage, err)
	}
	if flags.NArg() > 0 {
		return a, fmt.Errorf("%w: takes flags only, not %q", errUsage, flags.Args())
	}
	return a, a.refer(*image, *push)
}

// refer reads the names of the image.
func (a *arguments) refer(image, push string) error {
	tag, err := name.NewTag(image, name.WithDefaultTag(""))
	if err != nil || tag.TagStr() == "" {
		return fmt.Errorf("%w: -image %q must be name:tag, such as rediscluster-operator:dev", errUsage, image)
	}
	a.tag = tag
	if push == "" {
		return nil
	}
	// A short name would go to a public registry, which nobody asked for.
	to, err := name.NewTag(push, name.StrictValidation)
	if err != nil {
		return fmt.Errorf("%w: -push %q must be registry/repository:tag in full: %w", errUsage, push, err)
	}
	a.push = &to
	return nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	a, err := parse(args, stdout)
	if err != nil {
		return err
	}
	progress := stages{out: stderr}
	s, err := stampOf(ctx, a, os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		return err
	}
	if s.dirty {
		fmt.Fprintf(stderr, "the sources have changes that are not committed: nobody else can build this image\n")
	}
	images, err := build(ctx, progress, a.root, s, shipped(a.root))
	if err != nil {
		return err
	}
	index := indexOf(images)
	if err := progress.do(ctx, "writing "+a.out, func() error { return write(a.out, a.tag, images, index) }); err != nil {
		return err
	}
	if err := describe(stdout, a, s, images, index); err != nil || a.push == nil {
		return err
	}
	var digest v1.Hash
	err = progress.do(ctx, "pushing "+a.push.String(), func() error {
		digest, err = push(ctx, *a.push, index, remote.WithAuthFromKeychain(authn.DefaultKeychain))
		return err
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "pushed %s@%s\n", a.push, digest)
	return nil
}
