package objstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"golang.org/x/sync/errgroup"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const (
	partBytes     = 4 << 20 // of one request of a large read
	parallelParts = 4       // of one large read
)

// Head describes an object as it is now. Where the store says that there is
// none, the error is fs.ErrNotExist; it does not say whether the bucket is there.
func (c *Client) Head(ctx context.Context, bucket, key string) (Object, error) {
	about := subject{right: GetObject, bucket: bucket, key: key}
	var out *s3.HeadObjectOutput
	err := c.ask(ctx, about, 0, func(ctx context.Context, api *s3.Client, o ...func(*s3.Options)) (err error) {
		out, err = api.HeadObject(ctx, &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: aws.String(key)}, o...)
		if speechless(err) {
			err = whyNot(ctx, api, about, err, o...)
		}
		return err
	})
	if err != nil {
		return Object{}, err
	}
	if out.ContentLength == nil || *out.ContentLength < 0 {
		return Object{}, c.stranger(about, "an object without a size")
	}
	return Object{
		Bucket: bucket, Key: key, Size: *out.ContentLength, Modified: aws.ToTime(out.LastModified), ETag: aws.ToString(out.ETag),
		Folder: strings.HasPrefix(aws.ToString(out.ContentType), "application/x-directory"),
	}, nil
}

// whyNot asks for the object's first byte: an answer to HEAD has no body that
// would say what is wrong. Where that works, the first answer stands.
func whyNot(ctx context.Context, api *s3.Client, about subject, first error, o ...func(*s3.Options)) error {
	out, err := api.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(about.bucket), Key: aws.String(about.key), Range: aws.String("bytes=0-0")}, o...)
	if err != nil {
		return err
	}
	_ = out.Body.Close() // its status was the answer
	return first
}

// Read returns size bytes of an object's version from offset on. What lies past
// the object's end is io.ErrUnexpectedEOF; an object that is no longer the
// version, a fault. Small reads fetch the page around them, and find the next
// one there.
func (c *Client) Read(ctx context.Context, o Object, offset, size int64) ([]byte, error) {
	switch {
	case offset < 0 || size < 0 || offset > o.Size-size:
		return nil, io.ErrUnexpectedEOF
	case size == 0:
		return []byte{}, nil
	case size <= pageBytes && o.ETag != "":
		return c.readPages(ctx, o, offset, size)
	}
	data := make([]byte, size)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallelParts)
	for at := int64(0); at < size; at += partBytes {
		group.Go(func() error { return c.fetch(groupCtx, o, offset+at, data[at:min(at+partBytes, size)]) })
	}
	if err := group.Wait(); err != nil {
		if ctx.Err() != nil {
			return nil, c.stopped(ctx, ctx, subject{right: GetObject, bucket: o.Bucket, key: o.Key})
		}
		return nil, err
	}
	return data, nil
}

// fetch fills data with the object's bytes from offset on. A body that breaks
// off is asked for again from where it did.
func (c *Client) fetch(ctx context.Context, o Object, offset int64, data []byte) error {
	about := subject{right: GetObject, bucket: o.Bucket, key: o.Key}
	got, tries := 0, 0
	for got < len(data) {
		n := 0
		err := c.ask(ctx, about, int64(len(data)-got), func(ctx context.Context, api *s3.Client, opts ...func(*s3.Options)) (err error) {
			n, err = c.fetchOnce(ctx, api, about, o, offset+int64(got), data[got:], opts...)
			return err
		})
		got += n
		var cut *cutError
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &cut):
			return err
		}
		if tries++; tries >= c.config.Attempts {
			return fault.New(fault.Unreachable, op, "%s breaks off: %s of %s bytes from byte %s on came in %d attempts (%s)",
				about.show(), figures.Group(int64(got)), figures.Group(int64(len(data))), figures.Group(offset), tries, cut.why).
				WithHint("try again; if it stays, look at the store, or at the proxy or load balancer before it")
		}
	}
	return nil
}

// cutError is a body that ended too early.
type cutError struct{ why string }

func (e *cutError) Error() string { return "the body ends too early: " + e.why }

func (c *Client) fetchOnce(ctx context.Context, api *s3.Client, about subject, o Object, offset int64, data []byte, opts ...func(*s3.Options)) (int, error) {
	last := offset + int64(len(data)) - 1
	input := &s3.GetObjectInput{Bucket: aws.String(o.Bucket), Key: aws.String(o.Key), Range: aws.String(fmt.Sprintf("bytes=%d-%d", offset, last))}
	if o.ETag != "" {
		input.IfMatch = aws.String(o.ETag)
	}
	out, err := api.GetObject(ctx, input, opts...)
	if err != nil {
		return 0, err
	}
	defer out.Body.Close()
	if err := c.sameVersion(about, o, out); err != nil {
		return 0, err
	}
	if err := c.rightRange(about, o, out, offset, last); err != nil {
		return 0, err
	}
	n, err := io.ReadFull(out.Body, data)
	switch {
	case err == nil:
		return n, nil
	case ctx.Err() != nil:
		return n, ctx.Err()
	default:
		return n, &cutError{safetext.Error(err).Truncate(100).String()}
	}
}

// sameVersion compares what came with what the object was: stores that know no
// If-Match answer with whatever is there now.
func (c *Client) sameVersion(about subject, o Object, out *s3.GetObjectOutput) error {
	if tag := aws.ToString(out.ETag); o.ETag != "" && tag != "" && tag != o.ETag {
		return changed(about)
	}
	return nil
}

// rightRange checks that the answer is the range that was asked for, of an object
// of the size that it had.
func (c *Client) rightRange(about subject, o Object, out *s3.GetObjectOutput, offset, last int64) error {
	of := func(says string) error {
		return fault.New(fault.Unreachable, op, "the store contradicts itself about %s: it said %s bytes, and now %s for bytes %s to %s",
			about.show(), figures.Group(o.Size), says, figures.Group(offset), figures.Group(last)).
			WithHint("the object was replaced, or the store or a proxy before it is broken: read it again, and don't rely on it before the sizes agree")
	}
	given := aws.ToString(out.ContentRange)
	if given == "" { // the whole object: good only where its beginning was wanted
		switch {
		case out.ContentLength != nil && *out.ContentLength != o.Size:
			return of("an object of " + figures.Group(*out.ContentLength))
		case offset > 0:
			return fault.New(fault.Unsupported, op, "%s gives whole objects only, and byte %s of %s was asked for",
				c.place(), figures.Group(offset), about.show()).
				WithHint("copy the recovery point to this machine, or read the store without the proxy before it")
		}
		return nil
	}
	var first, end, total int64
	if _, err := fmt.Sscanf(given, "bytes %d-%d/%d", &first, &end, &total); err != nil {
		return of("a range that can't be read, " + quote(given))
	}
	if first != offset || end != last || total != o.Size {
		return of("gives bytes " + figures.Group(first) + " to " + figures.Group(end) + " of " + figures.Group(total))
	}
	return nil
}

// changed is the fault of an object that is no longer what it was.
func changed(about subject) error {
	return fault.New(fault.Unreachable, op, "%s was replaced while it was read", about.show()).
		WithHint("a finished snapshot never changes: find out what writes there, and read it again")
}
