package objstore

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const (
	pageKeys    = 1000 // names of one page: the most that the protocol gives
	emptyPages  = 16   // pages in a row that bring nothing new, until a listing counts as endless
	listedBytes = 2 << 20
)

// Listing is what lies directly under a prefix that ends in a slash.
type Listing struct {
	Objects []Object // that are no folders' marks; in the store's order
	Folders []string // names between the prefix and the next slash
	// Marked says that an object has the prefix itself as its key, as tools make
	// one to keep an empty folder.
	Marked bool
	More   bool // there are more than were asked for
}

// Empty reports whether nothing has the prefix.
func (l Listing) Empty() bool { return len(l.Objects) == 0 && len(l.Folders) == 0 && !l.Marked }

// List returns at most limit names under a folder: "" for a bucket, else a
// prefix that ends in a slash. A listing that does not end is a fault.
func (c *Client) List(ctx context.Context, bucket, prefix string, limit int) (Listing, error) {
	about := subject{right: ListBucket, bucket: bucket, key: prefix}
	l := lister{client: c, about: about, limit: limit, names: map[string]bool{}, tokens: map[string]bool{}}
	for {
		var page *s3.ListObjectsV2Output
		input := &s3.ListObjectsV2Input{
			Bucket: aws.String(bucket), Prefix: aws.String(prefix), Delimiter: aws.String("/"),
			MaxKeys: aws.Int32(int32(min(limit+1, pageKeys))), EncodingType: types.EncodingTypeUrl, ContinuationToken: l.next,
		}
		err := c.ask(ctx, about, listedBytes, func(ctx context.Context, api *s3.Client, o ...func(*s3.Options)) (err error) {
			page, err = api.ListObjectsV2(ctx, input, o...)
			return err
		})
		if err != nil {
			return Listing{}, err
		}
		done, err := l.take(page)
		if done || err != nil {
			return l.Listing, err
		}
	}
}

// lister puts pages together.
type lister struct {
	Listing
	client *Client
	about  subject
	limit  int
	next   *string

	names  map[string]bool
	tokens map[string]bool
	idle   int // pages in a row that brought nothing
}

// take adds a page and reports whether it was the last one.
func (l *lister) take(page *s3.ListObjectsV2Output) (bool, error) {
	if page.Name == nil || page.IsTruncated == nil {
		return true, l.client.stranger(l.about, "an answer that is no listing")
	}
	if name := aws.ToString(page.Name); name != l.about.bucket {
		return true, fault.New(fault.Config, op, "%s lists the bucket %s where %s was asked for",
			l.client.place(), quote(name), quote(l.about.bucket)).
			WithHint("%s", "this is how a store answers that expects the bucket in the path: set path-style: true of the object store")
	}
	before := len(l.names)
	for _, folder := range page.CommonPrefixes {
		name, err := l.name(page, aws.ToString(folder.Prefix))
		if err != nil {
			return true, err
		}
		l.folder(name)
	}
	for _, o := range page.Contents {
		name, err := l.name(page, aws.ToString(o.Key))
		switch {
		case err != nil:
			return true, err
		case o.Size == nil || *o.Size < 0:
			return true, l.client.stranger(l.about, "a listing with an object without a size")
		case name == "":
			l.Marked = true
		case strings.Contains(name, "/"): // some stores tell marks of folders as what they are
			l.folder(name)
		case l.isNew(name):
			l.Objects = append(l.Objects, Object{
				Bucket: l.about.bucket, Key: l.about.key + name, Size: aws.ToInt64(o.Size), ETag: aws.ToString(o.ETag),
				Modified: aws.ToTime(o.LastModified),
			})
		}
	}
	if l.More {
		return true, nil
	}
	return l.onward(page, len(l.names) > before)
}

// folder adds the folder that a key or prefix lies in.
func (l *lister) folder(name string) {
	name, _, _ = strings.Cut(name, "/")
	if l.isNew(name + "/") {
		l.Folders = append(l.Folders, name)
	}
}

// isNew keeps a name that was not yet there, up to the limit.
func (l *lister) isNew(name string) bool {
	switch {
	case l.names[name]:
		return false
	case len(l.names) == l.limit:
		l.More = true
		return false
	}
	l.names[name] = true
	return true
}

// name is the part of a key behind the prefix.
func (l *lister) name(page *s3.ListObjectsV2Output, key string) (string, error) {
	if page.EncodingType == types.EncodingTypeUrl {
		decoded, err := url.QueryUnescape(key)
		if err != nil {
			return "", l.client.stranger(l.about, "a listing with a key that is not encoded as it says")
		}
		key = decoded
	}
	name, ok := strings.CutPrefix(key, l.about.key)
	if !ok {
		return "", fault.New(fault.Unreachable, op, "%s lists %s where keys with the prefix %s were asked for: its listing can't be relied on",
			l.client.place(), quote(key), quote(l.about.key)).
			WithHint("nothing is known about this place: look at the store, or at the proxy before it")
	}
	return name, nil
}

// onward decides whether another page is to be read.
func (l *lister) onward(page *s3.ListObjectsV2Output, brought bool) (bool, error) {
	if !*page.IsTruncated {
		return true, nil
	}
	token := aws.ToString(page.NextContinuationToken)
	if l.idle++; brought {
		l.idle = 0
	}
	why := ""
	switch {
	case token == "":
		why = "says that there is more and not where"
	case l.tokens[token]:
		why = "leads in a circle"
	case l.idle >= emptyPages:
		why = "goes on without bringing anything"
	default:
		l.tokens[token], l.next = true, page.NextContinuationToken
		return false, nil
	}
	return true, fault.New(fault.Unreachable, op, "the listing of %s does not end: after %s it %s",
		l.about.show(), figures.Group(int64(len(l.names)))+" names", why).
		WithHint("the store, or a proxy before it, answers ListObjectsV2 wrongly: nothing is known about this place")
}

// Object is one version of an object.
type Object struct {
	Bucket, Key string
	Size        int64
	Modified    time.Time
	ETag        string // of this version; empty: the store gives none
	Folder      bool   // by its content type a mark of a folder
}

func quote(name string) string { return `"` + safetext.Of(name).Truncate(200).String() + `"` }
