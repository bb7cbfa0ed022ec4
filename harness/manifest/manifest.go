// Package manifest reads Kubernetes objects from files, directories and
// kustomizations, and remembers where each one came from.
package manifest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// Object is one object and the file that it stands in.
type Object struct {
	*unstructured.Unstructured
	// Source is the path of the file, or of the kustomization that made it.
	Source string
}

// kustomizations are the names by which kustomize knows its files.
var kustomizations = []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}

// Read returns the objects at path, in the order of the files' names and, in a
// file, of its documents. A directory that holds a kustomization is built by
// kustomize; any other is read with its subdirectories, files that end in
// .yaml, .yml or .json. Decoding is strict: a duplicate key is an error, as is
// a document without apiVersion and kind.
func Read(path string) ([]Object, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	if !info.IsDir() {
		return readFile(path)
	}
	if isKustomization(path) {
		return build(path)
	}
	return readDirectory(path)
}

func isKustomization(dir string) bool {
	return slices.ContainsFunc(kustomizations, func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && !info.IsDir()
	})
}

func readDirectory(dir string) ([]Object, error) {
	var objects []Object
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(path)) {
			return nil
		}
		found, err := readFile(path)
		objects = append(objects, found...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading manifests in %s: %w", dir, err)
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("reading manifests in %s: no .yaml, .yml or .json file holds an object", dir)
	}
	return objects, nil
}

func readFile(path string) ([]Object, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	objects, err := decode(content, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return objects, nil
}

// build runs kustomize as `kubectl kustomize` would: no plugins, no network.
func build(dir string) ([]Object, error) {
	resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, fmt.Errorf("building the kustomization in %s: %s", dir, oneLine(err))
	}
	content, err := resources.AsYaml()
	if err != nil {
		return nil, fmt.Errorf("building the kustomization in %s: %s", dir, oneLine(err))
	}
	return decode(content, dir)
}

func decode(content []byte, source string) ([]Object, error) {
	var objects []Object
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for n := 1; ; n++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		found, err := decodeDocument(document)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", n, err)
		}
		for _, u := range found {
			objects = append(objects, Object{Unstructured: u, Source: source})
		}
	}
}

// decodeDocument returns no object for a document that is empty or a comment,
// and the items of a List.
func decodeDocument(document []byte) ([]*unstructured.Unstructured, error) {
	asJSON, err := yaml.YAMLToJSONStrict(document)
	if err != nil {
		return nil, errors.New(oneLine(err))
	}
	if string(asJSON) == "null" {
		return nil, nil
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(asJSON); err != nil {
		return nil, fmt.Errorf("not a Kubernetes object: %s", oneLine(err))
	}
	if u.GetAPIVersion() == "" {
		return nil, errors.New("not a Kubernetes object: apiVersion is missing")
	}
	if !u.IsList() {
		return []*unstructured.Unstructured{u}, nil
	}
	var items []*unstructured.Unstructured
	err = u.EachListItem(func(item runtime.Object) error {
		items = append(items, item.(*unstructured.Unstructured))
		return nil
	})
	return items, err
}

// oneLine folds the several lines of a YAML error into one.
func oneLine(err error) string {
	return strings.Join(strings.Fields(err.Error()), " ")
}
