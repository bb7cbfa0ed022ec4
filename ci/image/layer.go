package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// user is whom the programs run as, by number, so that Kubernetes can see that
// it is not root.
const user = "65532:65532"

// entry is one file or directory of the layer. Everything belongs to root, so
// that the programs cannot change it.
type entry struct {
	// path is relative to the root; a directory's ends with a slash.
	path    string
	mode    int64
	content []byte
}

// entries are all that the image holds: nothing is in it that is not here.
func entries(binaries map[string][]byte, names []string) []entry {
	all := []entry{
		{path: "etc/", mode: 0o755},
		{path: "etc/group", mode: 0o644, content: []byte("operator:x:65532:\n")},
		{path: "etc/passwd", mode: 0o644, content: []byte("operator:x:65532:65532:operator:/tmp:/sbin/nologin\n")},
	}
	for _, name := range names {
		all = append(all, entry{path: name, mode: 0o755, content: binaries[name]})
	}
	return append(all, entry{path: "tmp/", mode: 0o1777})
}

// archive writes the entries as a tar file, with the same time for all.
func archive(all []entry, created time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range all {
		header := &tar.Header{Name: e.path, Mode: e.mode, Size: int64(len(e.content)), ModTime: created, Format: tar.FormatUSTAR, Typeflag: tar.TypeReg}
		if strings.HasSuffix(e.path, "/") {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("writing %s to the layer: %w", e.path, err)
		}
		if _, err := w.Write(e.content); err != nil {
			return nil, fmt.Errorf("writing %s to the layer: %w", e.path, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("ending the layer: %w", err)
	}
	return b.Bytes(), nil
}

func layerOf(content []byte) (v1.Layer, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, fmt.Errorf("compressing the layer: %w", err)
	}
	return layer, nil
}
