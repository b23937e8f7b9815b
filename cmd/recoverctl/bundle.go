package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/atomicfile"
	"github.com/recoverctl/recoverctl/internal/bundle"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/journal"
)

// bundleAsk is what bundle was asked for.
type bundleAsk struct {
	out                 string
	payloads, skipCalls bool
}

func newBundle(a *app) *cobra.Command {
	var ask bundleAsk
	cmd := &cobra.Command{
		Use: "bundle", Short: "Write all that is known of a job's recovery into one file for a ticket", Args: noArgs,
		Long: `Reads what inspect job, inspect control, inspect calls and validate restore read,
and writes it as JSON into one gzipped tar archive: overview, findings, recovery
points with the verdict of a restore from each, cleanup operations, durable
calls, versions, the lines of this machine's journal about the job, and the
configuration with the origin of each value. Secrets are not in it: no part of
the program that prints can see one. Keys of records are in it; their values
are left out unless --payloads asks for those of the calls that are listed.

Of a job of ArkFlow it is what inspect arkflow jobs, streams, job, events and wal
say: every row of the decision table with its outcome, versions, recovery points,
the hub's events and its audit, and the write-ahead log. With --payloads also the
entries that a start would send again.

The file is new, or nothing is written; only this user may read it. What could
not be read is a fault beside the part that it belongs to, and in the manifest,
which also has the SHA-256 of each part.

Exit codes: 0 written, 5 the file exists already, 8 written, and not everything
could be read.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			check := func() error {
				switch _, err := os.Lstat(ask.out); {
				case ask.out == "" || ask.out == "-":
					return fault.New(fault.Usage, "read flags", "a bundle is written to a file").WithHint("name a new one with --out FILE.tar.gz")
				case err == nil:
					return fault.Wrap(fault.Denied, "write the bundle", fs.ErrExist, "%s is not overwritten", safe(ask.out)).WithHint("give --out a new file").WithRef("file " + safe(ask.out))
				}
				return nil
			}
			if err := a.load(); err != nil {
				return err
			}
			if err := check(); err != nil {
				return err
			}
			if j := a.selection.Job; j != nil && isArkFlow(*j) {
				return a.bundleArkFlow(cmd.Context(), *j, ask)
			}
			if err := a.keepsActionState(); err != nil {
				return err
			}
			return a.withChosen(func(in *inspect.Inspector, job inspect.Job) error {
				b := jobBundling{bundling: bundling{app: a, profile: job.Profile, job: job.Name, ask: ask}, in: in, of: job}
				if err := b.collect(cmd.Context()); err != nil {
					return err
				}
				return b.write(cmd.Context())
			})
		},
	}
	cmd.Flags().StringVar(&ask.out, "out", "", "write the bundle to this new `FILE`, as in incident.tar.gz")
	cmd.Flags().BoolVar(&ask.payloads, "payloads", false, "also write the records of the calls that are listed, with what the job was told and answered; of ArkFlow, the entries behind the cursor")
	cmd.Flags().BoolVar(&ask.skipCalls, "skip-calls", false, "don't scan the topic for durable calls")
	return cmd
}

// bundleMade is the JSON form of a bundle that was written.
type bundleMade struct {
	File    string          `json:"file"`
	Bytes   int64           `json:"bytes"`
	Members []bundle.Member `json:"members"`
	LeftOut []string        `json:"leftOut"`
}

// write writes what was collected, and tells.
func (b *bundling) write(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	faults := make([]faultJSON, 0, len(b.faults))
	for _, err := range b.faults {
		faults = append(faults, faultOf(err))
	}
	data, err := b.file.Encode(bundle.Manifest{Made: b.clock.Now(), Version: version, Profile: b.profile, Job: b.job, LeftOut: b.leftOut, Faults: faults})
	if err != nil {
		return err
	}
	if err := atomicfile.Create(b.ask.out, data); err != nil {
		return err
	}
	made := bundleMade{File: b.ask.out, Bytes: int64(len(data)), Members: b.file.Members(), LeftOut: append([]string{}, b.leftOut...)}
	err = b.printer().result("Bundle", made, b.faults, func(t *table) {
		t.line(fmt.Sprintf("wrote %s, %s", safe(b.ask.out), figures.Bytes(made.Bytes)))
		t.row(text("MEMBER"), num("BYTES"), text("SHA-256"))
		for _, m := range made.Members {
			t.row(text(m.Name), num(figures.Group(m.Bytes)), text(m.SHA256))
		}
		for _, sentence := range made.LeftOut {
			t.line("left out: " + sentence)
		}
	})
	if err == nil && len(b.faults) > 0 {
		return exitStatus(fault.Partial.Exit())
	}
	return err
}

// bundling is one bundle while it is put together.
type bundling struct {
	*app
	profile, job string // their names
	ask          bundleAsk

	file    bundle.Bundle
	leftOut []string
	faults  []error
}

// add adds the answer of a command, as that command prints it.
func (b *bundling) add(name, kind string, data any, faults ...error) error {
	faults = fault.All(errors.Join(faults...))
	list := make([]faultJSON, 0, len(faults))
	for _, err := range faults {
		list = append(list, faultOf(err))
		if !slices.ContainsFunc(b.faults, func(known error) bool { return known.Error() == err.Error() }) {
			b.faults = append(b.faults, err)
		}
	}
	var out bytes.Buffer
	if err := writeJSON(&out, envelope{Schema: schema, Kind: kind, Data: data, Faults: list}); err != nil {
		return err
	}
	return b.file.Add(name, out.Bytes())
}

// jobBundling is a bundle of a job with action state.
type jobBundling struct {
	bundling
	in *inspect.Inspector
	of inspect.Job
}

// collect reads everything. What can't be read is a fault of its member.
func (b *jobBundling) collect(ctx context.Context) error {
	overview, overviewErr := b.in.Overview(ctx, b.of)
	var calls *inspect.DurableCalls
	if b.ask.skipCalls {
		b.leftOut = append(b.leftOut, "durable calls: the topic was not scanned (--skip-calls)")
	} else {
		found, faults, err := b.in.Calls(ctx, b.of, inspect.CallAsk{}, b.callProgress())
		if err != nil {
			faults = []error{err}
		} else {
			calls = &found
			overview = overview.WithCalls(inspect.CallCount{Calls: found, Progress: found.Progress()})
		}
		if err := b.add("calls.json", "DurableCalls", found, faults...); err != nil {
			return err
		}
	}
	restores := make([]inspect.RestoreValidation, 0, len(overview.Points))
	for _, p := range overview.Points {
		restores = append(restores, p.Validation)
	}
	var points []inspect.RecoveryPoint
	var pointsErr []error
	for _, place := range b.of.RecoveryPoints {
		at, err := b.in.List(ctx, place)
		points, pointsErr = append(points, at...), append(pointsErr, err)
	}
	steps := []error{
		b.add("overview.json", "JobOverview", overview, overviewErr),
		b.add("findings.json", "Findings", overview.Findings),
		b.add("restores.json", "RestoreValidations", restores),
		b.add("recovery-points.json", "RecoveryPoints", append([]inspect.RecoveryPoint{}, points...), pointsErr...),
		b.operations(ctx),
		b.versions(overview),
		b.journalLines(),
		b.configuration(),
		b.text(overview),
		b.records(ctx, calls),
	}
	return errors.Join(steps...)
}

// operations are those of the control topic, where the job has one.
func (b *jobBundling) operations(ctx context.Context) error {
	if b.of.ControlTopic == nil {
		b.leftOut = append(b.leftOut, "cleanup operations: no control topic is configured")
		return nil
	}
	boundary, err := b.in.Control(ctx, b.of, nil)
	return b.add("operations.json", "CleanupBoundary", boundary, err)
}

// ownVersions are those of what asks.
func ownVersions() map[string]string {
	return map[string]string{"recoverctl": version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
}

// versions are those of what was asked and of what asks.
func (b *jobBundling) versions(o inspect.JobOverview) error {
	v := ownVersions()
	v["runtime"], v["clusterId"], v["topicId"] = string(b.of.Runtime), o.ClusterID, o.TopicID
	if o.Live != nil {
		v["flink"] = o.Live.FlinkVersion
	}
	return b.add("versions.json", "Versions", v)
}

// journalLines are the lines of this machine's journal about the job.
func (b *bundling) journalLines() error {
	dir, err := journal.StateDir(b.variable)
	if err != nil {
		return b.add("journal.json", "JournalEntry", journalRead{Entries: []journal.Entry{}, Open: []journal.Entry{}, Damage: []journal.Damage{}}, err)
	}
	entries, damage, err := journal.At(dir).Read(journal.Filter{Profile: b.profile, Job: b.job})
	read := journalRead{Entries: append([]journal.Entry{}, entries...), Open: append([]journal.Entry{}, journal.OpenIntents(entries)...), Damage: append([]journal.Damage{}, damage...)}
	return b.add("journal.json", "JournalEntry", read, err)
}

// configuration is every setting with its origin; a secret prints as ***, for
// that is all that its type can print.
func (b *bundling) configuration() error {
	rows := []settingJSON{}
	for _, s := range b.loaded.Explain(b.selection) {
		rows = append(rows, settingJSON{Key: s.Key, Value: s.Value, Origin: s.Origin.String()})
	}
	return b.add("configuration.json", "ConfigShow", map[string]any{"file": b.loaded.Path, "settings": rows})
}

// text is the overview as people read it.
func (b *jobBundling) text(o inspect.JobOverview) error {
	var out bytes.Buffer
	t := newTable(&out, 0)
	renderOverview(t, o, b.clock.Now())
	if err := t.flush(); err != nil {
		return err
	}
	return b.file.Add("overview.txt", out.Bytes())
}

// records are those that show the calls of the list, with their values.
func (b *jobBundling) records(ctx context.Context, calls *inspect.DurableCalls) error {
	if !b.ask.payloads {
		b.leftOut = append(b.leftOut, "values of records (--payloads adds those of the calls that are listed)")
		return nil
	}
	if calls == nil || len(calls.Actions) == 0 {
		b.leftOut = append(b.leftOut, "values of records: there is no call whose record could be added")
		return nil
	}
	browser, err := b.in.Records(ctx, b.of)
	if err != nil {
		return b.add("records.json", "Records", []inspect.DecodedRecord{}, err)
	}
	var at []inspect.RecordPosition
	for _, a := range calls.Actions {
		at = append(at, inspect.RecordPosition{Partition: a.Partition, Offset: a.Offset})
		for _, c := range a.Calls {
			at = append(at, c.Seen)
		}
	}
	slices.SortFunc(at, func(x, y inspect.RecordPosition) int {
		if x.Partition != y.Partition {
			return int(x.Partition) - int(y.Partition)
		}
		return int(min(1, max(-1, x.Offset-y.Offset)))
	})
	of := b.of.RecordContext()
	of.Partitions = len(browser.Topic().Partitions)
	var lines bytes.Buffer
	for _, position := range slices.Compact(at) {
		page, err := browser.From(ctx, position.Partition, position.Offset, 1)
		if err != nil {
			b.faults = append(b.faults, err)
			continue
		}
		if len(page.Records) == 0 || page.Records[0].Offset != position.Offset {
			b.faults = append(b.faults, fault.New(fault.Drift, "read records", "offset %d of %s %d is gone since the scan", position.Offset, b.of.Store.Part(), position.Partition))
			continue
		}
		line, err := json.Marshal(inspect.DecodeRecord(page.Records[0], of))
		if err != nil {
			return fmt.Errorf("encode a record: %w", err)
		}
		lines.Write(append(line, '\n'))
	}
	return b.file.Add("records.jsonl", lines.Bytes())
}
