package assets

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sync/errgroup"
)

// parallelDownloads is how many files are downloaded side by side.
const parallelDownloads = 3

// downloader gets the official release files.
type downloader struct {
	mirror   Mirror
	transfer *transfer
}

// fetch downloads each program and holds it against its published checksum. The
// error is that of the first program that failed.
func (d *downloader) fetch(ctx context.Context, j job, m *meter) ([]fetched, error) {
	var mu sync.Mutex
	var done []fetched
	var group errgroup.Group
	group.SetLimit(parallelDownloads)
	for _, p := range j.programs {
		group.Go(func() error {
			origin, err := d.program(ctx, j, p, m)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done = append(done, fetched{program: p, origin: origin})
			return nil
		})
	}
	err := group.Wait()
	return done, err
}

func (d *downloader) program(ctx context.Context, j job, p Program, m *meter) (origin string, err error) {
	file, err := d.mirror.file(j.recipe, p, j.os, j.arch)
	if err != nil {
		return "", err
	}
	document, err := d.transfer.document(ctx, file.checksum)
	if err != nil {
		return "", err
	}
	want, err := file.find(document)
	if err != nil {
		return "", fmt.Errorf("%s %w", file.checksum, err)
	}
	path := filepath.Join(j.dir, string(p))
	target := path
	if file.member != "" {
		target += ".tar.gz"
	}
	got, err := d.transfer.file(ctx, file.url, target, m)
	if err != nil {
		return "", err
	}
	if got != want {
		return "", errors.Join(
			fmt.Errorf("%s has the SHA-256 %s, but %s says %s", file.url, got, file.checksum, want), os.Remove(target))
	}
	if file.member != "" {
		if err := extract(target, file.member, path); err != nil {
			return "", fmt.Errorf("unpacking %s: %w", file.url, err)
		}
	}
	return file.url, nil
}

// extract copies one file out of a compressed tar archive and removes the
// archive.
func extract(archive, member, path string) error {
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	for reader := tar.NewReader(unzipped); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("it has no %s", member)
		}
		if err != nil {
			return err
		}
		if header.Name != member || header.Typeflag != tar.TypeReg {
			continue
		}
		out, err := os.Create(path)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, reader) //nolint:gosec // the checksum vouches for the archive, so its size needs no limit
		return errors.Join(err, out.Close(), os.Remove(archive))
	}
}
