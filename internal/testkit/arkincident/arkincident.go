package arkincident

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"github.com/recoverctl/recoverctl/internal/testkit/arkhubtest"
)

// Profile is the profile of the sample.
const Profile = "demo"

// The jobs of the hub, and the streams that have a log.
const (
	JobInOrder  = "orders-count"
	JobDegraded = "payments-agg"  // a log is beside it
	JobRejected = "refunds-dedup" // its newest points can't be restored
	JobUpgraded = "invoices"      // began cold after an upgrade
	StreamReady = "payments-eu"   // runs, with entries behind its cursor
	StreamGap   = "orders-eu"     // its log alone is here
	StreamBad   = "refunds-eu"    // failed; its log is damaged
	StreamBare  = "heartbeat"     // has no log
)

// Incident is a running hub with the sample in it.
type Incident struct {
	// Address is the hub's, as a URL. It asks for no token.
	Address string
	// Store is the folder with each job's checkpoint store below it.
	Store string
	// Logs is the folder with each stream's write-ahead log below it.
	Logs string

	hub *arkhubtest.Hub
	end []func()
}

// Start makes the sample as it looks at a moment, which is about now: the hub goes
// on with the machine's clock. Everything goes below dir, which exists, and which
// the caller removes. The caller closes the result.
func Start(ctx context.Context, dir string, now time.Time) (*Incident, error) {
	return start(ctx, dir, now, time.Time{})
}

// StartAt is Start with a hub for which it stays that moment: what it answers is the
// same each time.
func StartAt(ctx context.Context, dir string, now time.Time) (*Incident, error) {
	return start(ctx, dir, now, now)
}

// start lets the hub's clock go on from a moment: the machine's where it is zero.
func start(ctx context.Context, dir string, now, then time.Time) (*Incident, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("arkincident: %w", err)
	}
	in := &Incident{Store: filepath.Join(dir, "checkpoints"), Logs: filepath.Join(dir, "wal")}
	if err := writeLogs(in.Logs, now.Add(-writtenAgo)); err != nil {
		return nil, fmt.Errorf("arkincident: %w", err)
	}
	past := &past{}
	in.hub = arkhubtest.New(arkhubtest.Options{Clock: past})
	if err := (&story{Incident: in, clock: past, now: now}).play(ctx); err != nil {
		return nil, fmt.Errorf("arkincident: %w", err)
	}
	past.set(then)
	in.Address = in.hub.Start(in)
	return in, nil
}

// Cleanup keeps what Close does, the last first: it is what the hub's server needs
// of a test.
func (in *Incident) Cleanup(f func()) { in.end = append(in.end, f) }

// Close ends the hub. Everything in it is gone.
func (in *Incident) Close() {
	for i := len(in.end) - 1; i >= 0; i-- {
		in.end[i]()
	}
	in.end = nil
}

// Hub is the hub: to change what happens next.
func (in *Incident) Hub() *arkhubtest.Hub { return in.hub }

// Log is where the log of a stream, or of JobDegraded, is.
func (in *Incident) Log(stream string) string { return filepath.Join(in.Logs, stream) }

// ConfigYAML is a configuration file for the sample: one profile, the jobs that an
// operator would list. StreamGap has a log and no hub.
func (in *Incident) ConfigYAML() []byte {
	out := fmt.Appendf(nil, `default-profile: %s
profiles:
  - name: %[1]s
    environment: production
    access: operate
    jobs:
`, Profile)
	entry := func(name, hub, wal string) {
		out = fmt.Appendf(out, "      - name: %s\n        engine: arkflow\n        arkflow: {", name)
		if hub != "" {
			out = fmt.Appendf(out, "hub: %s", quoted(hub))
		}
		if hub != "" && wal != "" {
			out = append(out, ", "...)
		}
		if wal != "" {
			out = fmt.Appendf(out, "wal: %s", quoted(wal))
		}
		out = append(out, "}\n"...)
	}
	entry(JobInOrder, in.Address, "")
	entry(JobDegraded, in.Address, in.Log(JobDegraded))
	for _, job := range []string{JobRejected, JobUpgraded} {
		entry(job, in.Address, "")
	}
	entry(StreamReady, in.Address, in.Log(StreamReady))
	entry(StreamBad, in.Address, in.Log(StreamBad))
	entry(StreamGap, "", in.Log(StreamGap))
	return out
}

// quoted is a text as YAML reads it: JSON's strings are YAML's.
func quoted(text string) string {
	data, err := json.Marshal(text)
	if err != nil {
		return `""` // no string fails
	}
	return string(data)
}
