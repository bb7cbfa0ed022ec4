package v1

import "strings"

// ParseImage splits an image reference such as registry:5000/redis:7.0@sha256:…
// into its parts. It accepts any text: what does not look like a tag or a
// digest stays in the repository, so that String gives the text back.
func ParseImage(reference string) Image {
	repository, digest, found := strings.Cut(reference, "@")
	if found && digest == "" {
		return Image{Repository: reference}
	}
	image := Image{Repository: repository, Digest: digest}
	colon := strings.LastIndexByte(repository, ':')
	// A colon before the last slash is that of the registry's port.
	if colon > strings.LastIndexByte(repository, '/') && colon+1 < len(repository) {
		image.Repository, image.Tag = repository[:colon], repository[colon+1:]
	}
	return image
}

// String is the image's reference.
func (i Image) String() string {
	reference := i.Repository
	if i.Tag != "" {
		reference += ":" + i.Tag
	}
	if i.Digest != "" {
		reference += "@" + i.Digest
	}
	return reference
}
