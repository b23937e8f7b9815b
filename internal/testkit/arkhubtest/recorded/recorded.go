// Package recorded holds the HTTP exchanges that real ArkFlow hubs and a single
// engine had, for tests that compare with them.
//
// They were recorded on 2026-11-29 with arkflow-server and arkflow 0.5.0: the
// files hub*.jsonl with branch v1 at commit c7dd8b4, hub-main-2f423ef*.jsonl with
// the main branch at that commit, node-local.jsonl with an engine without a hub.
// One exchange is one line. Tokens were taken out; nothing else was changed.
//
// It must never be part of the program: only tests import it.
package recorded

import (
	"bufio"
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strings"
)

//go:embed testdata/*.jsonl
var files embed.FS

// Exchange is one request with its answer.
type Exchange struct {
	Name            string            `json:"name"` // as in hub/two-nodes/checkpoints
	Method          string            `json:"method"`
	Path            string            `json:"path"` // with its query
	Headers         map[string]string `json:"headers"`
	Body            json.RawMessage   `json:"body"`
	Error           string            `json:"error"` // why there was no answer; then nothing below is set
	Status          int               `json:"status"`
	ResponseHeaders map[string]string `json:"responseHeaders"`
	JSON            json.RawMessage   `json:"json"` // of an answer that was JSON
	Text            string            `json:"text"` // of any other
	Bytes           int               `json:"bytes"`
}

// All returns every exchange, in the order of the files and their lines.
func All() ([]Exchange, error) {
	entries, err := files.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	var all []Exchange
	for _, e := range entries {
		data, err := files.ReadFile(path.Join("testdata", e.Name()))
		if err != nil {
			return nil, err
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, len(data)+1)
		for lines.Scan() {
			var x Exchange
			if err := json.Unmarshal(lines.Bytes(), &x); err != nil {
				return nil, fmt.Errorf("%s: %w", e.Name(), err)
			}
			all = append(all, x)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
	}
	return all, nil
}

// Find returns the exchange of a name.
func Find(name string) (Exchange, error) {
	all, err := All()
	if err != nil {
		return Exchange{}, err
	}
	for _, x := range all {
		if x.Name == name {
			return x, nil
		}
	}
	return Exchange{}, fmt.Errorf("no exchange %s was recorded", name)
}

// Folder is the recording that an exchange is of, as in hub/two-nodes.
func (x Exchange) Folder() string { return path.Dir(x.Name) }

// Route is the path without its query.
func (x Exchange) Route() string {
	route, _, _ := strings.Cut(x.Path, "?")
	return route
}

// Answer is the body as it was.
func (x Exchange) Answer() []byte {
	if len(x.JSON) > 0 {
		return x.JSON
	}
	return []byte(x.Text)
}

// ServeHTTP answers as the recorded server did, whatever is asked.
func (x Exchange) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	for k, v := range x.ResponseHeaders {
		w.Header().Set(k, v)
	}
	w.WriteHeader(x.Status)
	_, _ = w.Write(x.Answer()) // the client may have left
}
