package main

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// push uploads the image, and asks the registry what it has now.
func push(ctx context.Context, to name.Tag, index v1.ImageIndex, options ...remote.Option) (v1.Hash, error) {
	options = append(options, remote.WithContext(ctx))
	digest, err := index.Digest()
	if err != nil {
		return v1.Hash{}, fmt.Errorf("reading the digest: %w", err)
	}
	if err := remote.WriteIndex(to, index, options...); err != nil {
		return v1.Hash{}, fmt.Errorf("pushing to %s: %w", to, err)
	}
	there, err := remote.Head(to, options...)
	if err != nil {
		return v1.Hash{}, fmt.Errorf("looking at what was pushed to %s: %w", to, err)
	}
	if there.Digest != digest {
		return v1.Hash{}, fmt.Errorf("%s has %s after %s was pushed to it: somebody else pushes too", to, there.Digest, digest)
	}
	return digest, nil
}
