package main

import (
	"context"
	"io"
)

func proxied(context.Context, *clusters, io.Writer) error { return nil }
