package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// entrypoint is the program that a container runs when it is not told another.
const entrypoint = "manager"

// limit is what an unpacked image may take on a node, in bytes.
const limit = 80_000_000

// built is the image of one architecture.
type built struct {
	architecture string
	image        v1.Image
	// unpacked is how many bytes its files have.
	unpacked int64
}

// build makes the image of each architecture.
func build(ctx context.Context, progress stages, root string, s stamp, programs []program) ([]built, error) {
	var images []built
	for _, architecture := range architectures {
		binaries := map[string][]byte{}
		var names []string
		for _, p := range programs {
			err := progress.do(ctx, fmt.Sprintf("building %s for linux/%s", p.name, architecture), func() (err error) {
				binaries[p.name], err = compile(ctx, root, s, architecture, p)
				return err
			})
			if err != nil {
				return nil, err
			}
			names = append(names, p.name)
		}
		all := entries(binaries, names)
		if err := fits(all, architecture); err != nil {
			return nil, err
		}
		image, err := assemble(all, architecture, s)
		if err != nil {
			return nil, fmt.Errorf("making the image for linux/%s: %w", architecture, err)
		}
		images = append(images, built{architecture: architecture, image: image, unpacked: sizeOf(all)})
	}
	return images, nil
}

func sizeOf(all []entry) int64 {
	var sum int64
	for _, e := range all {
		sum += int64(len(e.content))
	}
	return sum
}

// fits refuses files that are too large together.
func fits(all []entry, architecture string) error {
	size := sizeOf(all)
	if size <= limit {
		return nil
	}
	var parts []string
	for _, e := range all {
		if len(e.content) > limit/100 {
			parts = append(parts, e.path+" "+megabytes(int64(len(e.content))))
		}
	}
	return fmt.Errorf("the image for linux/%s has %s (%s), and may have %s", architecture, megabytes(size), strings.Join(parts, ", "), megabytes(limit))
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }

// assemble makes one image of its files.
func assemble(all []entry, architecture string, s stamp) (v1.Image, error) {
	content, err := archive(all, s.created)
	if err != nil {
		return nil, err
	}
	layer, err := layerOf(content)
	if err != nil {
		return nil, err
	}
	created := v1.Time{Time: s.created}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	base, err = mutate.ConfigFile(base, &v1.ConfigFile{
		OS: "linux", Architecture: architecture, Created: created,
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{User: user, Entrypoint: []string{"/" + entrypoint}, WorkingDir: "/", Labels: labels(s)},
	})
	if err != nil {
		return nil, fmt.Errorf("setting the configuration: %w", err)
	}
	image, err := mutate.Append(base, mutate.Addendum{
		Layer: layer, MediaType: types.OCILayer,
		History: v1.History{Created: created, CreatedBy: "ci/image"},
	})
	if err != nil {
		return nil, fmt.Errorf("adding the layer: %w", err)
	}
	return image, nil
}

func labels(s stamp) map[string]string {
	const prefix = "org.opencontainers.image."
	return map[string]string{
		prefix + "title":       "rediscluster-operator",
		prefix + "description": "Operator for RedisCluster resources: the manager and its programs",
		prefix + "source":      "https://github.com/seatrial/seatrial",
		prefix + "revision":    s.revision,
		prefix + "version":     s.version,
		prefix + "created":     s.created.Format(time.RFC3339),
	}
}

// indexOf names the images by their architecture.
func indexOf(images []built) v1.ImageIndex {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range images {
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        b.image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: b.architecture}},
		})
	}
	return index
}
