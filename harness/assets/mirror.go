package assets

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// Mirror is the base URLs of the official release files.
type Mirror struct {
	// Kubernetes serves release/VERSION/bin/OS/ARCH/PROGRAM, with .sha256
	// beside each; by default https://dl.k8s.io.
	Kubernetes string
	// GitHub serves OWNER/REPOSITORY/releases/download/VERSION/FILE; by
	// default https://github.com.
	GitHub string
	// GitHubAPI serves repos/OWNER/REPOSITORY/releases/tags/VERSION, which has
	// the checksums of projects that publish no file of them; by default
	// https://api.github.com.
	GitHubAPI string
}

func (m Mirror) withDefaults() (Mirror, error) {
	for _, base := range []struct {
		url            *string
		standard, name string
	}{
		{&m.Kubernetes, "https://dl.k8s.io", EnvKubernetesURL},
		{&m.GitHub, "https://github.com", EnvGitHubURL},
		{&m.GitHubAPI, "https://api.github.com", EnvGitHubAPIURL},
	} {
		if *base.url == "" {
			*base.url = base.standard
		}
		u, err := url.Parse(*base.url)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return m, fmt.Errorf("%q is not the base URL of a download (set by %s): it must start with http:// or https://", *base.url, base.name)
		}
		*base.url = strings.TrimRight(*base.url, "/")
	}
	return m, nil
}

// releaseFile is an official file that has a program.
type releaseFile struct {
	url string
	// member is the path of the program in the file, a compressed tar archive;
	// it is empty when the file is the program.
	member string
	// checksum is the URL of the document that has the file's SHA-256, and
	// find reads it there.
	checksum string
	find     func(document []byte) (string, error)
}

// file returns the official file of a program.
func (m Mirror) file(r recipe, p Program, os, arch string) (releaseFile, error) {
	if os != "linux" {
		return releaseFile{}, fmt.Errorf("no official files of %s are known for %s", r.component, os)
	}
	switch r.component {
	case componentKubernetes:
		base := fmt.Sprintf("%s/release/%s/bin/%s/%s/%s", m.Kubernetes, r.version, os, arch, p)
		return releaseFile{url: base, checksum: base + ".sha256", find: bareChecksum}, nil
	case componentEtcd:
		name := fmt.Sprintf("etcd-%s-%s-%s", r.version, os, arch)
		base := fmt.Sprintf("%s/etcd-io/etcd/releases/download/%s/", m.GitHub, r.version)
		return releaseFile{
			url:      base + name + ".tar.gz",
			member:   name + "/etcd",
			checksum: base + "SHA256SUMS",
			find:     func(document []byte) (string, error) { return listedChecksum(document, name+".tar.gz") },
		}, nil
	default:
		name := fmt.Sprintf("kwok-%s-%s", os, arch)
		// KWOK publishes no checksums; GitHub computes them on upload.
		return releaseFile{
			url:      fmt.Sprintf("%s/kubernetes-sigs/kwok/releases/download/%s/%s", m.GitHub, r.version, name),
			checksum: fmt.Sprintf("%s/repos/kubernetes-sigs/kwok/releases/tags/%s", m.GitHubAPI, r.version),
			find:     func(document []byte) (string, error) { return assetChecksum(document, name) },
		}, nil
	}
}

// bareChecksum reads a document that is a checksum, perhaps with a file name.
func bareChecksum(document []byte) (string, error) {
	fields := strings.Fields(string(document))
	if len(fields) == 0 {
		return "", errors.New("is empty")
	}
	return checkChecksum(fields[0])
}

// listedChecksum finds a file in a list as sha256sum writes it.
func listedChecksum(document []byte, name string) (string, error) {
	for line := range strings.Lines(string(document)) {
		fields := strings.Fields(line)
		if len(fields) == 2 && strings.TrimPrefix(fields[1], "*") == name {
			return checkChecksum(fields[0])
		}
	}
	return "", fmt.Errorf("does not list %s", name)
}

// assetChecksum finds a file in GitHub's description of a release.
func assetChecksum(document []byte, name string) (string, error) {
	var release struct {
		Assets []struct {
			Name   string `json:"name"`
			Digest string `json:"digest"`
		} `json:"assets"`
	}
	if err := json.Unmarshal(document, &release); err != nil {
		return "", fmt.Errorf("is not the description of a release: %w", err)
	}
	for _, asset := range release.Assets {
		if asset.Name == name {
			return checkChecksum(strings.TrimPrefix(asset.Digest, "sha256:"))
		}
	}
	return "", fmt.Errorf("does not list %s", name)
}

func checkChecksum(sum string) (string, error) {
	sum = strings.ToLower(sum)
	if len(sum) != 64 || strings.Trim(sum, "0123456789abcdef") != "" {
		return "", fmt.Errorf("has %q instead of a SHA-256", sum)
	}
	return sum, nil
}
