package objstore_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/s3test"
)

// Whatever an endpoint answers to a listing: it ends, within the limit, and
// nothing outside the folder is in it.
func FuzzListing(f *testing.F) {
	const name = `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><Prefix>p/</Prefix><KeyCount>2</KeyCount><MaxKeys>11</MaxKeys><IsTruncated>false</IsTruncated>`
	f.Add("application/xml", name+`<Contents><Key>p/a</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>&quot;x&quot;</ETag><Size>5</Size><StorageClass>STANDARD</StorageClass></Contents><CommonPrefixes><Prefix>p/chk-1/</Prefix></CommonPrefixes></ListBucketResult>`)
	f.Add("application/xml", strings.Replace(name, "false", "true", 1)+`<NextContinuationToken>t</NextContinuationToken></ListBucketResult>`)
	f.Add("application/xml", name+`<EncodingType>url</EncodingType><Contents><Key>p%2Fa+b%2Bc%01</Key><Size>-1</Size></Contents></ListBucketResult>`)
	f.Add("application/xml", `<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>`)
	f.Add("0", `<Error><Code>NoSuChBuCket</Code><Message>0</Message></Error>`)
	f.Add("text/html", "<html></html>")
	f.Add("", "")
	s := s3test.Start(f, "b")
	c := open(f, s, nil) // one, for a connection each would use up the ports
	f.Fuzz(func(t *testing.T, contentType, body string) {
		s.Break(s3test.Text(http.StatusOK, contentType, body))
		l, err := c.List(t.Context(), "b", "p/", 10)
		if err != nil {
			if kind := fault.KindOf(err); kind == fault.Bug || kind == fault.NotFound && !strings.Contains(strings.ToLower(body), "nosuchbucket") { // the SDK takes any case
				t.Errorf("%s: %v", kind, err)
			}
			return
		}
		if len(l.Objects)+len(l.Folders) > 10 {
			t.Errorf("%d entries", len(l.Objects)+len(l.Folders))
		}
		for _, o := range l.Objects {
			if !strings.HasPrefix(o.Key, "p/") || strings.Contains(o.Key[2:], "/") || o.Size < 0 {
				t.Errorf("%+v", o)
			}
		}
		for _, name := range l.Folders {
			if strings.Contains(name, "/") {
				t.Errorf("folder %q", name)
			}
		}
	})
}
