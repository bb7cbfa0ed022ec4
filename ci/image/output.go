package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const (
	layoutName = "oci"
	sumsName   = "SHA256SUMS"
)

func tarName(architecture string) string { return "linux-" + architecture + ".tar" }

// write puts the image into a directory in all its forms. What was there of an
// earlier one is replaced, and nothing else is touched.
func write(out string, tag name.Tag, images []built, index v1.ImageIndex) error {
	if err := os.MkdirAll(out, 0o755); err != nil { //nolint:gosec // the directory is the user's to name
		return fmt.Errorf("making the output directory: %w", err)
	}
	fresh, err := os.MkdirTemp(out, ".new-")
	if err != nil {
		return fmt.Errorf("making a directory to write to: %w", err)
	}
	defer os.RemoveAll(fresh)
	// What is replaced is removed first, which must not reach outside.
	dir, err := os.OpenRoot(out)
	if err != nil {
		return fmt.Errorf("opening the output directory: %w", err)
	}
	defer dir.Close()
	if err := writeLayout(filepath.Join(fresh, layoutName), tag, index); err != nil {
		return err
	}
	summed := []string{filepath.Join(layoutName, "index.json")}
	names := []string{layoutName}
	for _, b := range images {
		file := tarName(b.architecture)
		if err := tarball.WriteToFile(filepath.Join(fresh, file), tag, b.image); err != nil {
			return fmt.Errorf("writing %s: %w", file, err)
		}
		summed, names = append(summed, file), append(names, file)
	}
	if err := writeSums(dir, filepath.Base(fresh), summed); err != nil {
		return err
	}
	return replace(dir, filepath.Base(fresh), append(names, sumsName))
}

func writeLayout(path string, tag name.Tag, index v1.ImageIndex) error {
	dir, err := layout.Write(path, empty.Index)
	if err != nil {
		return fmt.Errorf("writing the OCI layout: %w", err)
	}
	reference := map[string]string{"org.opencontainers.image.ref.name": tag.TagStr()}
	if err := dir.AppendIndex(index, layout.WithAnnotations(reference)); err != nil {
		return fmt.Errorf("writing the OCI layout: %w", err)
	}
	return nil
}

// writeSums writes what sha256sum -c reads.
func writeSums(dir *os.Root, from string, files []string) error {
	var b strings.Builder
	for _, file := range files {
		content, err := dir.ReadFile(filepath.Join(from, file))
		if err != nil {
			return fmt.Errorf("reading what was written: %w", err)
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(content), filepath.ToSlash(file))
	}
	if err := dir.WriteFile(filepath.Join(from, sumsName), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("writing the sums: %w", err)
	}
	return nil
}

// replace moves the names up from a directory in the output directory.
func replace(dir *os.Root, from string, names []string) error {
	if _, err := dir.Stat(layoutName); err == nil {
		// A directory that is no layout is not ours to remove.
		if _, err := dir.Stat(filepath.Join(layoutName, "oci-layout")); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("%s is no OCI image layout: remove it, or name another directory with -out", filepath.Join(dir.Name(), layoutName))
		}
		if err := dir.RemoveAll(layoutName); err != nil {
			return fmt.Errorf("removing the earlier image: %w", err)
		}
	}
	for _, n := range names {
		if err := dir.Rename(filepath.Join(from, n), n); err != nil {
			return fmt.Errorf("moving the image into place: %w", err)
		}
	}
	return nil
}

// describe says what was built.
func describe(out io.Writer, a arguments, s stamp, images []built, index v1.ImageIndex) error {
	digest, err := index.Digest()
	if err != nil {
		return fmt.Errorf("reading the digest: %w", err)
	}
	fmt.Fprintf(out, "%s version %s, commit %s, %s, in %s\n", a.tag, s.version, s.revision, s.created.Format(time.RFC3339), a.out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "index\t%s\t\t\n", digest)
	for _, b := range images {
		digest, err := b.image.Digest()
		if err != nil {
			return fmt.Errorf("reading the digest for linux/%s: %w", b.architecture, err)
		}
		packed, err := packedSize(b.image)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "linux/%s\t%s\t%s\t%s compressed\n", b.architecture, digest, megabytes(b.unpacked), megabytes(packed))
	}
	return w.Flush()
}

func packedSize(image v1.Image) (int64, error) {
	layers, err := image.Layers()
	if err != nil {
		return 0, fmt.Errorf("reading the layers: %w", err)
	}
	var sum int64
	for _, layer := range layers {
		size, err := layer.Size()
		if err != nil {
			return 0, fmt.Errorf("reading the size of a layer: %w", err)
		}
		sum += size
	}
	return sum, nil
}
