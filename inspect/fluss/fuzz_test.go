package fluss

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// FuzzNodes: whatever a node holds, it is read as Fluss writes it or refused, and
// what it does not say is not taken for a zero.
func FuzzNodes(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "zookeeper.json"))
	if err != nil {
		f.Fatal(err)
	}
	var nodes []struct{ Data json.RawMessage }
	if err := json.Unmarshal(text, &nodes); err != nil {
		f.Fatal(err)
	}
	for _, n := range nodes {
		f.Add([]byte(n.Data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if n, err := parseNode[leaderNode](data); err == nil && (n.Leader == nil || n.Epoch == nil || n.InSync == nil) {
			t.Errorf("%q: %+v", data, n)
		}
		if n, err := parseNode[remoteNode](data); err == nil && *n.End < 0 {
			t.Errorf("%q: %+v", data, n)
		}
		if n, err := parseNode[serverNode](data); err == nil && n.Listeners == "" {
			t.Errorf("%q: %+v", data, n)
		}
		n, err := parseNode[producerNode](data)
		if err != nil {
			return
		}
		if n.Expires == nil {
			t.Errorf("%q: %+v", data, n)
		}
		for _, table := range n.Tables {
			if table.ID == nil || table.Path == "" {
				t.Errorf("%q: %+v", data, n)
			}
		}
	})
}
