package main

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

var testStamp = stamp{version: "v1.2.3", revision: "abc", created: time.Unix(1_700_000_000, 0).UTC()}

// repository is one with a tiny manager, built in a directory of its own.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"go.mod": "module example.com/tiny\n\ngo 1.26\n",
		"operator/cmd/manager/main.go": `package main

var version string

func main() { println("tiny", version) }
`,
	}
	for path, content := range files {
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func buildTiny(t *testing.T) []built {
	t.Helper()
	root := repository(t)
	images, err := build(t.Context(), stages{out: io.Discard}, root, testStamp, shipped(root))
	if err != nil {
		t.Fatal(err)
	}
	return images
}

func digestOf(t *testing.T, i interface{ Digest() (v1.Hash, error) }) string {
	t.Helper()
	digest, err := i.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return digest.String()
}

func TestTheSameSourcesGiveTheSameBytesAnywhere(t *testing.T) {
	sums := func() string {
		root, out := repository(t), filepath.Join(t.TempDir(), "out")
		t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
		var stdout bytes.Buffer
		err := run(t.Context(), []string{"-root", root, "-out", out, "-version", "v1", "-revision", "abc"}, &stdout, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(filepath.Join(out, sumsName))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	first := sums()
	if strings.Count(first, "\n") != 3 {
		t.Errorf("sums of other than three files:\n%s", first)
	}
	if diff := cmp.Diff(first, sums()); diff != "" {
		t.Errorf("the second build differs (-first +second):\n%s", diff)
	}
}

func TestTheVersionIsInTheProgramAndChangesTheImage(t *testing.T) {
	root := repository(t)
	content, err := compile(t.Context(), root, testStamp, "amd64", shipped(root)[0])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(content, []byte("v1.2.3")) {
		t.Error("the program does not hold its version")
	}
	if bytes.Contains(content, []byte(root)) {
		t.Error("the program holds the directory that it was built in")
	}
}

// file is what a layer says of an entry.
type file struct {
	Type     byte
	Mode     int64
	UID, GID int
	Created  int64
}

func TestTheLayerHoldsTheListedFilesOnly(t *testing.T) {
	const created = 1_700_000_000
	want := map[string]file{
		"etc/":       {tar.TypeDir, 0o755, 0, 0, created},
		"etc/group":  {tar.TypeReg, 0o644, 0, 0, created},
		"etc/passwd": {tar.TypeReg, 0o644, 0, 0, created},
		"manager":    {tar.TypeReg, 0o755, 0, 0, created},
		"tmp/":       {tar.TypeDir, 0o1777, 0, 0, created},
	}
	for _, b := range buildTiny(t) {
		layers, err := b.image.Layers()
		if err != nil || len(layers) != 1 {
			t.Fatalf("%d layers, %v: want one", len(layers), err)
		}
		content, err := layers[0].Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]file{}
		for r := tar.NewReader(content); ; {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			got[h.Name] = file{h.Typeflag, h.Mode, h.Uid, h.Gid, h.ModTime.Unix()}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("linux/%s (-want +got):\n%s", b.architecture, diff)
		}
	}
}

func TestTheConfigurationNamesUserAndProgram(t *testing.T) {
	for _, b := range buildTiny(t) {
		got, err := b.image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		want := v1.Config{
			User: "65532:65532", Entrypoint: []string{"/manager"}, WorkingDir: "/",
			Labels: map[string]string{
				"org.opencontainers.image.title":       "rediscluster-operator",
				"org.opencontainers.image.description": "Operator for RedisCluster resources: the manager and its programs",
				"org.opencontainers.image.source":      "https://github.com/seatrial/seatrial",
				"org.opencontainers.image.revision":    "abc",
				"org.opencontainers.image.version":     "v1.2.3",
				"org.opencontainers.image.created":     "2023-11-14T22:13:20Z",
			},
		}
		if diff := cmp.Diff(want, got.Config); diff != "" {
			t.Errorf("configuration (-want +got):\n%s", diff)
		}
		if got.OS != "linux" || got.Architecture != b.architecture || !got.Created.Equal(testStamp.created) {
			t.Errorf("%s/%s of %v, want linux/%s of %v", got.OS, got.Architecture, got.Created, b.architecture, testStamp.created)
		}
	}
}

func TestWhatIsWrittenReadsBack(t *testing.T) {
	images, out := buildTiny(t), t.TempDir()
	tag, err := name.NewTag("demo:dev")
	if err != nil {
		t.Fatal(err)
	}
	index := indexOf(images)
	// The second time replaces what the first wrote.
	for range 2 {
		if err := write(out, tag, images, index); err != nil {
			t.Fatal(err)
		}
	}
	for _, b := range images {
		read, err := tarball.ImageFromPath(filepath.Join(out, tarName(b.architecture)), &tag)
		if err != nil {
			t.Fatal(err)
		}
		want, err := b.image.RawConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		got, err := read.RawConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("configuration in the tar (-want +got):\n%s", diff)
		}
	}
	read, err := layout.ImageIndexFromPath(filepath.Join(out, layoutName))
	if err != nil {
		t.Fatal(err)
	}
	top, err := read.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(top.Manifests) != 1 || top.Manifests[0].Digest.String() != digestOf(t, index) {
		t.Fatalf("the layout holds %v, want the index only", top.Manifests)
	}
	inner, err := read.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	platforms(t, inner)
}

func TestADirectoryThatIsNoLayoutIsLeftAlone(t *testing.T) {
	images, out := buildTiny(t), t.TempDir()
	kept := filepath.Join(out, layoutName, "precious")
	if err := os.Mkdir(filepath.Dir(kept), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := write(out, name.Tag{}, images, indexOf(images))
	if err == nil || !strings.Contains(err.Error(), "is no OCI image layout") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

func platforms(t *testing.T, index v1.ImageIndex) {
	t.Helper()
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range manifest.Manifests {
		got = append(got, m.Platform.String())
	}
	if diff := cmp.Diff([]string{"linux/amd64", "linux/arm64"}, got); diff != "" {
		t.Errorf("platforms (-want +got):\n%s", diff)
	}
}

func TestPushedImagesReadBack(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	to, err := name.NewTag(strings.TrimPrefix(server.URL, "http://")+"/team/demo:v1", name.StrictValidation)
	if err != nil {
		t.Fatal(err)
	}
	index := indexOf(buildTiny(t))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := push(ctx, to, index); err != nil {
		t.Fatal(err)
	}
	read, err := remote.Index(to, remote.WithContext(ctx))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(digestOf(t, index), digestOf(t, read)); diff != "" {
		t.Errorf("digest (-want +got):\n%s", diff)
	}
	platforms(t, read)
	server.Close()
	if _, err := push(ctx, to, index, remote.WithRetryBackoff(remote.Backoff{Steps: 1})); err == nil {
		t.Error("a registry that is gone must be an error")
	}
}

func TestProgramsThatAreTooLargeAreNamed(t *testing.T) {
	all := entries(map[string][]byte{"manager": make([]byte, limit+1_000_000)}, []string{"manager"})
	err := fits(all, "arm64")
	const want = "the image for linux/arm64 has 81.0 MB (manager 81.0 MB), and may have 80.0 MB"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := fits(entries(map[string][]byte{"manager": make([]byte, 1000)}, []string{"manager"}), "arm64"); err != nil {
		t.Error(err)
	}
}

func TestEveryProgramOfTheOperatorIsListed(t *testing.T) {
	listed := map[string]bool{}
	for _, p := range programs {
		listed[p.name] = true
	}
	found, err := os.ReadDir("../../operator/cmd")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		if f.IsDir() && !listed[f.Name()] {
			t.Errorf("operator/cmd/%s is not in the image", f.Name())
		}
	}
}

func TestMistakesAreExplained(t *testing.T) {
	tests := map[string]struct {
		args []string
		want string
	}{
		"an unknown flag":              {[]string{"-nope"}, "not defined: -nope"},
		"an argument":                  {[]string{"x"}, "takes flags only"},
		"a name without a tag":         {[]string{"-image", "demo"}, "must be name:tag"},
		"a name with capitals":         {[]string{"-image", "Demo:dev"}, "must be name:tag"},
		"a push without a registry":    {[]string{"-push", "demo:dev"}, "registry/repository:tag in full"},
		"a push without a tag":         {[]string{"-push", "example.com/demo"}, "registry/repository:tag in full"},
		"sources outside a repository": {[]string{"-root", t.TempDir()}, "outside a clone give -version"},
	}
	for what, test := range tests {
		t.Run(what, func(t *testing.T) {
			err := run(t.Context(), test.args, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestATimeThatIsNoneIsExplained(t *testing.T) {
	_, err := stampOf(t.Context(), arguments{version: "v1", revision: "abc"}, "yesterday")
	if err == nil || !strings.Contains(err.Error(), `SOURCE_DATE_EPOCH is "yesterday"`) {
		t.Errorf("got %v", err)
	}
}

func TestOnlyWhatTakesLongIsMentioned(t *testing.T) {
	tests := map[string]struct {
		takes time.Duration
		want  string
	}{
		"a second is not worth a word": {time.Second, ""},
		"three seconds are":            {3 * time.Second, "building (2s so far)\n"},
		"twenty are, twice":            {20 * time.Second, "building (2s so far)\nbuilding (17s so far)\n"},
	}
	for what, test := range tests {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				if err := (stages{out: &out}).do(t.Context(), "building", func() error {
					<-time.After(test.takes)
					return nil
				}); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(test.want, out.String()); diff != "" {
					t.Errorf("progress (-want +got):\n%s", diff)
				}
			})
		})
	}
}
