package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/arkflow"
	"github.com/recoverctl/recoverctl/internal/arkhub"
	"github.com/recoverctl/recoverctl/internal/figures"
)

const (
	bundledJobs    = 20   // jobs of a hub of which all is in one bundle
	bundledEntries = 1000 // entries of a write-ahead log of which all is in one bundle
)

// arkflowBundling is a bundle of a job of ArkFlow: what its hub says, and its
// write-ahead log.
type arkflowBundling struct {
	bundling
	of config.Job

	text     *table // as people read it
	findings []inspect.Finding
	versions map[string]string
}

// bundleArkFlow writes the bundle of a job of ArkFlow.
func (a *app) bundleArkFlow(ctx context.Context, job config.Job, ask bundleAsk) error {
	var overview bytes.Buffer
	b := arkflowBundling{
		bundling: bundling{app: a, profile: a.selection.Profile.Name, job: job.Name, ask: ask}, of: job,
		text: newTable(&overview, 0), findings: []inspect.Finding{}, versions: ownVersions(),
	}
	for _, add := range []func() error{
		func() error { return b.hub(ctx) },
		func() error { return b.log(ctx) },
		func() error { return b.add("findings.json", "Findings", b.findings) },
		func() error { return b.add("versions.json", "Versions", b.versions) },
		b.journalLines,
		b.configuration,
		b.text.flush,
		func() error { return b.unread(&overview) },
		func() error { return b.file.Add("overview.txt", overview.Bytes()) },
	} {
		if err := add(); err != nil {
			return err
		}
	}
	return b.write(ctx)
}

// hub adds what the hub says: of all its jobs and streams, and all of the job that
// the bundle is of.
func (b *arkflowBundling) hub(ctx context.Context) error {
	if b.of.ArkFlow.Hub == "" {
		b.leftOut = append(b.leftOut, "what the hub says: none is configured")
		return nil
	}
	var adding error // what is not read is a fault of its member; this ends the bundle
	err := b.withHub(ctx, "", func() error { return nil }, func(hub *arkflow.Hub, _ config.Job) error {
		adding = b.asked(ctx, hub)
		return nil
	})
	if err != nil {
		return b.add("jobs.json", "ArkFlowJobs", nil, err)
	}
	return adding
}

func (b *arkflowBundling) asked(ctx context.Context, hub *arkflow.Hub) error {
	jobs, err := hub.Jobs(ctx)
	if jobs.Hub.Address == "" {
		return b.add("jobs.json", "ArkFlowJobs", nil, err)
	}
	b.versions["hub"], b.versions["hubGeneration"] = exposed(jobs.Hub.Version), jobs.Hub.Generation.String()
	streams, streamsErr := jobs, err
	if b.of.ArkFlow.WAL != "" {
		beside, end := b.besideLog(hub, b.of, "", nil)
		streams, streamsErr = beside.Jobs(ctx)
		end()
	}
	all := jobs.Jobs
	jobs.Streams, streams.Jobs = []arkflow.StreamState{}, []arkflow.JobState{}
	if err := errors.Join(
		b.list("jobs.json", "ArkFlowJobs", jobs, err, renderArkFlowJobs, arkflow.OfJob, arkflow.OfHub),
		b.list("streams.json", "ArkFlowStreams", streams, streamsErr, renderArkFlowStreams, arkflow.OfStream, arkflow.OfLog, arkflow.OfHub),
		b.jobs(ctx, hub, all),
	); err != nil {
		return err
	}
	events, err := hub.Events(ctx, arkhub.EventFilter{})
	if err := b.add("events.json", "ArkFlowEvents", events, err); err != nil {
		return err
	}
	audit, err := hub.Audit(ctx)
	return b.add("audit.json", "ArkFlowAudit", audit, err)
}

// list adds jobs or streams, with all rows of the decision table that are about
// them; people read those that hold.
func (b *arkflowBundling) list(name, kind string, l arkflow.JobList, fault error, render func(*table, arkflow.JobList, time.Time), scopes ...arkflow.Scope) error {
	l.Decisions = shown(l.Decisions, true, scopes...)
	l.Findings = arkflow.Findings(l.Decisions)
	b.found(l.Findings)
	if err := b.add(name, kind, l, fault); err != nil {
		return err
	}
	l.Decisions = shown(l.Decisions, false, scopes...)
	b.read(func(t *table) { render(t, l, b.clock.Now()) })
	return nil
}

// jobs adds the job of the bundle's name, with its recovery points; where the hub has
// none of that name, all of its jobs.
func (b *arkflowBundling) jobs(ctx context.Context, hub *arkflow.Hub, jobs []arkflow.JobState) error {
	if at := slices.IndexFunc(jobs, func(j arkflow.JobState) bool { return j.ID == b.of.Name }); at >= 0 {
		jobs = jobs[at : at+1]
	}
	if more := len(jobs) - bundledJobs; more > 0 {
		b.leftOut = append(b.leftOut, fmt.Sprintf("recovery points of %s (--job with a job's own name has its)", figures.Count(more, "more job", "more jobs")))
		jobs = jobs[:bundledJobs]
	}
	for i, j := range jobs {
		beside, end := b.besideLog(hub, b.of, j.ID, nil)
		d, err := beside.Job(ctx, j.ID, "")
		end()
		if d.Hub.Address != "" {
			b.found(d.Findings)
			holding := d
			holding.Decisions = shown(d.Decisions, false, arkflow.OfJob, arkflow.OfHub, arkflow.OfLog)
			b.read(func(t *table) { renderArkFlowJob(t, holding, b.clock.Now()) })
		}
		if err := b.add(fmt.Sprintf("job-%d.json", i+1), "ArkFlowJob", d, err); err != nil {
			return err
		}
	}
	return nil
}

// log adds the write-ahead log, and with --payloads what a start sends again.
func (b *arkflowBundling) log(ctx context.Context) error {
	place := b.of.ArkFlow.WAL
	if place == "" {
		b.leftOut = append(b.leftOut, "the write-ahead log: none is configured")
		return nil
	}
	stores := newObjectStores(b.selection.Profile, terminalPrompt{}, b.loaded.Timeout, b.clock)
	defer stores.close()
	logs := b.logs(stores)
	l, err := logs.Read(ctx, place, arkflow.Question{Progress: b.walProgress()})
	if err != nil {
		return b.add("wal.json", "WriteAheadLog", nil, err)
	}
	answer := walJSON{WriteAheadLog: l, Decisions: shown(arkflow.DecideLog(place, &l, nil, b.clock.Now()), true, arkflow.OfLog)}
	b.found(arkflow.Findings(answer.Decisions))
	if err := b.add("wal.json", "WriteAheadLog", answer); err != nil {
		return err
	}
	answer.Decisions = shown(answer.Decisions, false, arkflow.OfLog)
	b.read(func(t *table) { renderWAL(t, answer, b.clock.Now()) })
	return b.entries(ctx, logs, l)
}

// entries adds those behind the cursor, with their payloads.
func (b *arkflowBundling) entries(ctx context.Context, logs *arkflow.Logs, l arkflow.WriteAheadLog) error {
	switch {
	case !b.ask.payloads:
		b.leftOut = append(b.leftOut, "payloads of entries (--payloads adds those that a start would send again)")
		return nil
	case !l.Stable:
		b.leftOut = append(b.leftOut, "payloads of entries: the log changed under every try to read it")
		return nil
	}
	from := uint64(0)
	if l.Cursor != nil {
		from = *l.Cursor + 1
	}
	list, err := logs.Entries(ctx, l, from, bundledEntries)
	if err != nil {
		b.faults = append(b.faults, err) // and what could be read is kept
	}
	if list.More {
		b.leftOut = append(b.leftOut, fmt.Sprintf("payloads of the entries after the first %s behind the cursor (recoverctl inspect arkflow entries --pending -o json has all)", figures.Group(bundledEntries)))
	}
	var lines bytes.Buffer
	as := entriesOutput{log: l, json: true}
	for _, e := range list.Entries {
		if err := writeLine(&lines, as.line(e)); err != nil {
			return err
		}
	}
	return b.file.Add("entries.jsonl", lines.Bytes())
}

// unread tells people what could not be read, as the command itself does.
func (b *arkflowBundling) unread(overview io.Writer) error {
	told := b.printer()
	told.err = overview
	for _, err := range b.faults {
		told.complain("not everything could be read", err)
	}
	return nil
}

// found adds findings that are not there yet: a job's are those of a list as well.
func (b *arkflowBundling) found(findings []inspect.Finding) {
	for _, f := range findings {
		if !slices.ContainsFunc(b.findings, func(o inspect.Finding) bool {
			return o.Rule == f.Rule && o.Cause == f.Cause && slices.Equal(o.Refs, f.Refs)
		}) {
			b.findings = append(b.findings, f)
		}
	}
}

// read adds a part for people to read, apart from the last one.
func (b *arkflowBundling) read(render func(*table)) {
	render(b.text)
	b.text.line("")
}
