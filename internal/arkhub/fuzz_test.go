package arkhub_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest/recorded"
)

// Whatever a server answers, a client returns rows that are rows or a fault, and
// what it read can be written as JSON.
func FuzzAnswer(f *testing.F) {
	all, err := recorded.All()
	if err != nil {
		f.Fatal(err)
	}
	for i, x := range all {
		if i%9 == 0 && len(x.Answer()) < 4000 {
			f.Add(x.Status, x.Answer())
		}
	}
	f.Add(200, []byte(`{"items":[{"checkpoint_id":"c","status":"completed","job_version":1e30}]}`))
	f.Add(503, []byte(`{"code":"hub_standby","details":{"leader_url":"http://[::1"}}`))
	var status int
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write(body)
	}))
	f.Cleanup(server.Close)
	f.Fuzz(func(t *testing.T, s int, data []byte) {
		status, body = 200+(s%400+400)%400, data
		if status == 204 || status == 304 {
			body = nil
		}
		c, err := arkhub.New(arkhub.Options{Address: server.URL, Pause: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		check := func(value any, err error) {
			if err != nil {
				if fault.KindOf(err) == fault.Bug {
					t.Fatalf("%v", err)
				}
				return
			}
			if _, err := json.Marshal(value); err != nil {
				t.Fatal(err)
			}
		}
		l, err := c.Checkpoints(t.Context(), "j")
		check(l.Items, err)
		for _, r := range l.Items {
			if r.ID == "" || r.Status == "" {
				t.Fatalf("a row without %+v", r)
			}
		}
		d, err := c.Detail(t.Context(), "j")
		check(d, err)
		config, err := c.Configuration(t.Context(), "n")
		check(config, err)
		g, err := c.Generation(t.Context())
		check(g, err)
	})
}
