package zkread_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/zkread"
)

// recorded is a frame of a real server, without its length.
func recorded(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "frames", name+".bin"))
	if err != nil {
		t.Fatal(err)
	}
	r := bytes.NewReader(data)
	frame, err := zkread.ReadFrame(r)
	if err != nil || r.Len() > 0 {
		t.Fatal(name, err, r.Len())
	}
	return frame
}

// body is what a recorded answer holds, whose request and code are known.
func body(t *testing.T, name string, xid int32, code zkread.Code) []byte {
	t.Helper()
	reply, err := zkread.ParseReply(recorded(t, name))
	if err != nil {
		t.Fatal(name, err)
	}
	gotXid, gotCode, rest := reply.Parts()
	if gotXid != xid || gotCode != code {
		t.Errorf("%s answers request %d with %s", name, gotXid, gotCode)
	}
	return rest
}

// What a real server answered is read as ZooKeeper's own client printed it.
func TestRecordedAnswers(t *testing.T) {
	session, err := zkread.ParseConnect(recorded(t, "connect"))
	if id, alone := session.Parts(); err != nil || id == 0 || alone {
		t.Error(id, alone, err)
	}
	data, stat, err := zkread.ParseData(body(t, "get-ephemeral", 1, zkread.OK))
	const server = `{"version":3,"listeners":"FLUSS://127.0.0.1:26818,CLIENT://127.0.0.1:31024","register_timestamp":1796010795416}`
	made := time.Date(2026, 11, 30, 3, 53, 16, 0, time.UTC)
	if err != nil || string(data) != server || stat.Ephemeral != 0x100023fc0cb0002 || stat.Version != 0 || stat.Children != 0 || !stat.Created.Truncate(time.Second).Equal(made) || stat.Modified != stat.Created {
		t.Errorf("%s, %+v, %v", data, stat, err)
	}
	names, err := zkread.ParseChildren(body(t, "children", 3, zkread.OK))
	slices.Sort(names)
	if err != nil || !slices.Equal(names, []string{"coordinators", "metadata", "tabletservers"}) {
		t.Error(names, err)
	}
	if names, err := zkread.ParseChildren(body(t, "no-children", 4, zkread.OK)); err != nil || len(names) != 0 {
		t.Error(names, err)
	}
	stat, err = zkread.ParseExists(body(t, "exists", 5, zkread.OK))
	if err != nil || stat.Ephemeral != 0 || stat.Children != 1 || stat.Version != 0 || !stat.Created.Truncate(time.Second).Equal(made.Add(-time.Second)) {
		t.Errorf("%+v, %v", stat, err)
	}
	for name, xid := range map[string]int32{"no-node-get": 2, "no-node": 6} {
		if rest := body(t, name, xid, zkread.NoNode); len(rest) > 0 {
			t.Errorf("%s: %d bytes", name, len(rest))
		}
	}
	if rest := body(t, "close", 7, zkread.OK); len(rest) > 0 {
		t.Errorf("%d bytes", len(rest))
	}
}

// An answer that ends anywhere before its end is refused, and never read as less.
func TestRecordedAnswersThatAreCut(t *testing.T) {
	for _, name := range []string{"get-ephemeral", "children", "exists"} {
		reply, err := zkread.ParseReply(recorded(t, name))
		if err != nil {
			t.Fatal(err)
		}
		_, _, whole := reply.Parts()
		for n := range len(whole) {
			var err error
			switch name {
			case "children":
				_, err = zkread.ParseChildren(whole[:n])
			case "exists":
				_, err = zkread.ParseExists(whole[:n])
			default:
				_, _, err = zkread.ParseData(whole[:n])
			}
			if err == nil {
				t.Errorf("%s of %d bytes is read", name, n)
			}
		}
	}
	for _, data := range [][]byte{{}, {0, 0}, {0, 0, 0, 9, 1}} {
		if _, err := zkread.ReadFrame(bytes.NewReader(data)); !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v: %v", data, err)
		}
	}
}
