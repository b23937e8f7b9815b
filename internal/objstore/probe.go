package objstore

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Probe is what a try of a store's rights showed.
type Probe struct {
	// Key is of the object whose first byte was read; empty where none with bytes
	// was found, so that reading was not tried.
	Key string
}

// probeKeys is how many keys are looked through for an object with bytes.
const probeKeys = 100

// Probe tries both rights that reading takes: it lists a little of what begins
// with a prefix, at any depth, and reads one byte of an object that is there. The
// error names the right that is missing.
func (c *Client) Probe(ctx context.Context, bucket, prefix string) (Probe, error) {
	about := subject{right: ListBucket, bucket: bucket, key: prefix}
	var page *s3.ListObjectsV2Output
	err := c.ask(ctx, about, listedBytes, func(ctx context.Context, api *s3.Client, o ...func(*s3.Options)) (err error) {
		page, err = api.ListObjectsV2(ctx, &s3.ListObjectsV2Input{
			Bucket: aws.String(bucket), Prefix: aws.String(prefix), MaxKeys: aws.Int32(probeKeys),
		}, o...)
		return err
	})
	if err != nil {
		return Probe{}, err
	}
	if page.Name == nil || page.IsTruncated == nil {
		return Probe{}, c.stranger(about, "an answer that is no listing")
	}
	for _, o := range page.Contents {
		size, key := aws.ToInt64(o.Size), aws.ToString(o.Key)
		if size <= 0 {
			continue
		}
		return Probe{Key: key}, c.fetch(ctx, Object{Bucket: bucket, Key: key, Size: size, ETag: aws.ToString(o.ETag)}, 0, make([]byte, 1))
	}
	return Probe{}, nil
}
