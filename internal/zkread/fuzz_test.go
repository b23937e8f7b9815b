package zkread_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/internal/zkread"
)

// FuzzAnswers: whatever a server sends, a frame is read or refused, and what is read
// of it lies within its bytes: nothing is made up, and no name leads elsewhere.
func FuzzAnswers(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "frames", "*.bin"))
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		frame, err := zkread.ReadFrame(bytes.NewReader(data))
		if err != nil {
			return
		}
		if len(frame)+4 > len(data) {
			t.Fatalf("a frame of %d bytes in %d", len(frame), len(data))
		}
		if _, err := zkread.ParseConnect(frame); err == nil && len(frame) < 20 {
			t.Errorf("a session in %d bytes", len(frame))
		}
		reply, err := zkread.ParseReply(frame)
		if err != nil {
			return
		}
		_, _, rest := reply.Parts()
		const stat = 68
		if _, err := zkread.ParseExists(rest); err == nil && len(rest) != stat {
			t.Errorf("what exists is told in %d bytes", len(rest))
		}
		if data, _, err := zkread.ParseData(rest); err == nil && len(data)+4+stat != len(rest) {
			t.Errorf("%d bytes of data in %d", len(data), len(rest))
		}
		names, err := zkread.ParseChildren(rest)
		size := 4
		for _, name := range names {
			size += 4 + len(name)
			if name == "" || strings.ContainsAny(name, "/\x00") {
				t.Errorf("a child is called %q", name)
			}
		}
		if err == nil && size != len(rest) {
			t.Errorf("%d children of %d bytes in %d", len(names), size, len(rest))
		}
	})
}
