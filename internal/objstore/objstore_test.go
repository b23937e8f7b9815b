package objstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/objstore"
	"github.com/recoverctl/recoverctl/internal/secret"
	"github.com/recoverctl/recoverctl/internal/testkit/s3test"
)

// Nothing of the machine's own AWS configuration may decide a test.
func TestMain(m *testing.M) {
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); strings.HasPrefix(name, "AWS_") {
			os.Unsetenv(name)
		}
	}
	os.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	os.Setenv("AWS_CONFIG_FILE", os.DevNull)
	os.Setenv("AWS_SHARED_CREDENTIALS_FILE", os.DevNull)
	goleak.VerifyTestMain(m)
}

func keys(context.Context) (objstore.Keys, error) {
	return objstore.Keys{ID: s3test.KeyID, Secret: secret.New(s3test.Secret)}, nil
}

// open makes a client for a server; change may be nil.
func open(tb testing.TB, s *s3test.Server, change func(*objstore.Config)) *objstore.Client {
	tb.Helper()
	config := objstore.Config{Endpoint: s.URL, Region: "eu-west-1", PathStyle: true, Keys: keys, Timeout: time.Minute, Attempts: 2}
	if change != nil {
		change(&config)
	}
	c := objstore.New(config)
	tb.Cleanup(c.Close)
	return c
}

func noise(n int) []byte {
	data := make([]byte, n)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

func TestAnObjectIsDescribedAndReadInRanges(t *testing.T) {
	s := s3test.Start(t, "b")
	data := noise(5<<20 + 17)
	s.Put("b", "chk-1/big", data)
	s.Break(s3test.RequireKey)
	c := open(t, s, nil)
	o, err := c.Head(t.Context(), "b", "chk-1/big")
	if err != nil || o.Size != int64(len(data)) || o.ETag == "" || o.Modified.IsZero() || o.Folder {
		t.Fatalf("%+v, %v", o, err)
	}
	for _, r := range [][2]int64{{0, o.Size}, {0, 0}, {o.Size, 0}, {4 << 20, 100}, {3, 5 << 20}, {32<<10 - 1, 2}, {o.Size - 1, 1}, {40_000, 32 << 10}} {
		got, err := c.Read(t.Context(), o, r[0], r[1])
		if err != nil || !bytes.Equal(got, data[r[0]:r[0]+r[1]]) {
			t.Errorf("%d bytes from %d on: %d bytes, %v", r[1], r[0], len(got), err)
		}
	}
	for _, r := range [][2]int64{{0, o.Size + 1}, {o.Size, 1}, {-1, 2}, {1, -1}, {1 << 62, 1 << 62}} {
		if _, err := c.Read(t.Context(), o, r[0], r[1]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%d bytes from %d on: %v", r[1], r[0], err)
		}
	}
}

// What is not there, is not; a bucket that is not there says so itself.
func TestAbsentIsWhatTheStoreCallsSo(t *testing.T) {
	s := s3test.Start(t, "b")
	c := open(t, s, nil)
	if _, err := c.Head(t.Context(), "b", "none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an absent object: %v", err)
	}
	if _, err := c.Read(t.Context(), objstore.Object{Bucket: "b", Key: "none", Size: 1 << 20}, 0, 1<<20); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("reading an absent object: %v", err)
	}
	l, err := c.List(t.Context(), "b", "none/", 10)
	if err != nil || !l.Empty() || l.More {
		t.Errorf("an absent folder: %+v, %v", l, err)
	}
	_, err = c.List(t.Context(), "nob", "", 10)
	if fault.KindOf(err) != fault.NotFound || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), `no bucket "nob"`) {
		t.Errorf("an absent bucket: %v", err)
	}
}

func TestAFolderIsListedInPages(t *testing.T) {
	s := s3test.Start(t, "b")
	s.Put("b", "d/", nil) // the mark of a folder
	var want []string
	for i := range 1234 {
		name := fmt.Sprintf("f-%04d", i)
		want = append(want, name)
		s.Put("b", "d/"+name, []byte("x"))
	}
	s.Put("b", "d/sub/deep/x", []byte("xy"))
	s.Put("b", "d2/other", nil)
	odd := []string{"a+b c", "ä&<é>", "50%25", "q?x#y", "'\"", "tab\tand\\", "=;,@:"}
	for _, name := range odd {
		s.Put("b", "odd/"+name, []byte(name))
	}
	c := open(t, s, nil)
	l, err := c.List(t.Context(), "b", "d/", 5000)
	var got []string
	for _, o := range l.Objects {
		got = append(got, strings.TrimPrefix(o.Key, "d/"))
	}
	if err != nil || !slices.Equal(got, want) || !slices.Equal(l.Folders, []string{"sub"}) || !l.Marked || l.More {
		t.Errorf("%d objects, folders %v, marked %v, more %v, %v", len(got), l.Folders, l.Marked, l.More, err)
	}
	if l, err = c.List(t.Context(), "b", "d/", 7); err != nil || len(l.Objects)+len(l.Folders) != 7 || !l.More {
		t.Errorf("with a limit of 7: %+v, %v", l, err)
	}
	if l, err = c.List(t.Context(), "b", "", 100); err != nil || !slices.Equal(l.Folders, []string{"d", "d2", "odd"}) {
		t.Errorf("the bucket: %+v, %v", l, err)
	}
	l, err = c.List(t.Context(), "b", "odd/", 100)
	if err != nil || len(l.Objects) != len(odd) {
		t.Fatalf("odd names: %+v, %v", l, err)
	}
	for _, o := range l.Objects {
		head, err := c.Head(t.Context(), "b", o.Key)
		if err != nil || head.Size != o.Size {
			t.Errorf("%q: %+v, %v", o.Key, head, err)
			continue
		}
		if data, err := c.Read(t.Context(), head, 0, head.Size); err != nil || "odd/"+string(data) != o.Key {
			t.Errorf("%q holds %q, %v", o.Key, data, err)
		}
	}
}

// A store that encodes keys, because XML can't hold them, is decoded; one that
// was asked to and does not is taken by its word.
func TestEncodedKeysAreDecoded(t *testing.T) {
	s := s3test.Start(t, "b")
	s.Break(s3test.On(s3test.Listing, s3test.Text(http.StatusOK, "application/xml", `<ListBucketResult><Name>b</Name><Prefix>d%2F</Prefix>
		<EncodingType>url</EncodingType><IsTruncated>false</IsTruncated>
		<Contents><Key>d%2Fa+b%2Bc%01</Key><Size>3</Size></Contents><CommonPrefixes><Prefix>d%2Fsub+1%2F</Prefix></CommonPrefixes></ListBucketResult>`)))
	l, err := open(t, s, nil).List(t.Context(), "b", "d/", 10)
	if err != nil || len(l.Objects) != 1 || l.Objects[0].Key != "d/a b+c\x01" || l.Objects[0].Size != 3 || !slices.Equal(l.Folders, []string{"sub 1"}) {
		t.Errorf("%+v, %v", l, err)
	}
}

// Small reads that follow each other are one request, and one that is far away
// does not fetch what lies between.
func TestOnlyPagesThatAreReadAreFetched(t *testing.T) {
	s := s3test.Start(t, "b")
	s.PutZeros("b", "savepoint/state", 50<<30)
	c := open(t, s, nil)
	o, err := c.Head(t.Context(), "b", "savepoint/state")
	if err != nil || o.Size != 50<<30 {
		t.Fatalf("%+v, %v", o, err)
	}
	for i := range int64(1000) {
		if _, err := c.Read(t.Context(), o, 40<<30+i*8, 8); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Read(t.Context(), o, 49<<30, 100); err != nil {
		t.Fatal(err)
	}
	if u := c.Usage(); u.Requests != 3 || u.Bytes != 64<<10 || s.Sent() != u.Bytes {
		t.Errorf("%+v, the store sent %d bytes", u, s.Sent())
	}
}

// A read is of one version: one that was replaced since it was looked at is not
// read, whether the store knows conditions or not.
func TestAnObjectThatChangesIsNotMixed(t *testing.T) {
	for name, faults := range map[string][]s3test.Fault{"with conditions": nil, "without": {s3test.NoConditions}} {
		t.Run(name, func(t *testing.T) {
			s := s3test.Start(t, "b")
			s.Break(faults...)
			s.Put("b", "k", noise(100_000))
			c := open(t, s, nil)
			o, err := c.Head(t.Context(), "b", "k")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Read(t.Context(), o, 0, 10); err != nil {
				t.Fatal(err)
			}
			s.Put("b", "k", make([]byte, 100_000))
			for _, size := range []int64{10, 60_000} {
				if _, err := c.Read(t.Context(), o, 40_000, size); fault.KindOf(err) != fault.Unreachable || !strings.Contains(err.Error(), "replaced while it was read") {
					t.Errorf("%d bytes: %v", size, err)
				}
			}
		})
	}
}

// What is under way ends at once when nobody wants it any more.
func TestReadingIsCancelled(t *testing.T) {
	s := s3test.Start(t, "b")
	s.Break(s.Hang())
	c := open(t, s, nil)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 100 { // more than may be under way
		wg.Go(func() {
			if _, err := c.Head(ctx, "b", fmt.Sprint(i)); fault.KindOf(err) != fault.Cancelled {
				t.Errorf("%v", err)
			}
		})
	}
	time.Sleep(50 * time.Millisecond)
	began := time.Now()
	cancel()
	wg.Wait()
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("took %s", took)
	}
	if u := c.Usage(); u.Requests > 32 {
		t.Errorf("%d requests at once", u.Requests)
	}
}

// Nothing of a store is touched before it is asked, and nothing is logged.
func TestNothingHappensBeforeTheFirstRequest(t *testing.T) {
	asked := 0
	c := objstore.New(objstore.Config{Endpoint: "http://127.0.0.1:1", Keys: func(context.Context) (objstore.Keys, error) {
		asked++
		return objstore.Keys{}, fault.New(fault.Config, "resolve secret", "no secret")
	}})
	c.Close()
	if asked != 0 || c.Usage() != (objstore.Usage{}) {
		t.Errorf("asked %d times, %+v", asked, c.Usage())
	}
	if _, err := c.Head(t.Context(), "b", "k"); fault.KindOf(err) != fault.Config || err.Error() != "no secret" {
		t.Errorf("a secret's own fault: %v", err)
	}
}
