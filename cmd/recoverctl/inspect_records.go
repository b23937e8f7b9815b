package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/payload"
)

// recordsAsk is what inspect records was asked for.
type recordsAsk struct {
	partitions             []int32
	from, to               int64
	fromTime, fromMarker   string
	last, limit            int
	raw                    bool
	hasFrom, hasTo, jsonUp bool
}

// recordsShown is how many records of a partition are shown as text where no
// limit is given.
const recordsShown = 100

func newInspectRecords(a *app) *cobra.Command {
	var ask recordsAsk
	var partitions []int
	cmd := &cobra.Command{
		Use: "records", Short: "Show records of the action-state topic or table, decoded or as they lie there", Args: noArgs,
		Long: `Shows the records of a range of offsets, partition by partition, as a restoring
job would read them: those of aborted and of open transactions too. Each is taken
apart as far as its bytes tell what it is: key generation, business key,
sequence, event and action, state and calls. The records with which brokers end
transactions are shown as such. Of a job whose action state lies in a Fluss table it
shows rows, bucket by bucket, those in remote storage too; a bucket is named with
--partition, and the column agent_key is told as a header in JSON.

The range begins at the log start, or where one of --from, --from-time,
--from-marker and --last says, and ends at the log end as it is when reading
begins, or at --to. As text 100 records of each partition are shown, unless
--limit says how many. As JSON it is one object a line.

Exit codes: 0 done, 6 the topic, a partition or the recovery point does not exist,
8 not all could be read.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			given := cmd.Flags().Changed
			ask.hasFrom, ask.hasTo = given("from"), given("to")
			check := func() error {
				ask.jsonUp = a.wantsJSON()
				return ask.check(partitions, given)
			}
			return a.withJob(check, func(in *inspect.Inspector, job inspect.Job) error {
				return a.inspectRecords(cmd.Context(), in, job, ask)
			})
		},
	}
	f := cmd.Flags()
	f.IntSliceVar(&partitions, "partition", nil, "only of the partition with this `NUMBER` (repeatable, or with commas)")
	f.Int64Var(&ask.from, "from", 0, "begin at this `OFFSET`")
	f.Int64Var(&ask.to, "to", 0, "end before this `OFFSET`")
	f.StringVar(&ask.fromTime, "from-time", "", "begin at the first record from this `TIME` on: a date, a time as in 2026-03-01T14:03:00Z, or an age as in 48h")
	f.StringVar(&ask.fromMarker, "from-marker", "", "begin where a restore from the recovery point at this `URI` would")
	f.IntVar(&ask.last, "last", 0, "only the last `NUMBER` of records of each partition")
	f.IntVar(&ask.limit, "limit", 0, "at most this `NUMBER` of records of each partition")
	f.BoolVar(&ask.raw, "raw", false, "show keys and values as they are: JSON with indentation, other text, or hexadecimal")
	return cmd
}

// check judges the flags by themselves.
func (ask *recordsAsk) check(partitions []int, given func(string) bool) error {
	usage := func(format string, args ...any) error { return fault.New(fault.Usage, "read flags", format, args...) }
	var begins []string
	for _, name := range []string{"from", "from-time", "from-marker", "last"} {
		if given(name) {
			begins = append(begins, "--"+name)
		}
	}
	switch {
	case len(begins) > 1:
		return usage("%s: only one of them can say where to begin", strings.Join(begins, " and "))
	case ask.from < 0 || ask.to < 0:
		return usage("offsets begin at 0")
	case ask.hasFrom && ask.hasTo && ask.to < ask.from:
		return usage("--to %d lies before --from %d", ask.to, ask.from)
	case given("last") && ask.last < 1, given("limit") && ask.limit < 1:
		return usage("--last and --limit take a number from 1 on")
	case given("last") && ask.hasTo:
		return usage("--last counts from the log end: --to can't be given with it")
	}
	for _, p := range partitions {
		if p < 0 || p > math.MaxInt32 {
			return usage("--partition %d is no number of a partition", p)
		}
		ask.partitions = append(ask.partitions, int32(p))
	}
	if ask.limit == 0 && !ask.jsonUp {
		ask.limit = max(recordsShown, ask.last)
	}
	return nil
}

func (a *app) inspectRecords(ctx context.Context, in *inspect.Inspector, job inspect.Job, ask recordsAsk) error {
	b, err := in.Records(ctx, job)
	if err != nil {
		return err
	}
	r := recordsRun{app: a, ask: ask, browser: b, context: job.RecordContext(), store: job.Store}
	r.context.Partitions = len(b.Topic().Partitions)
	if !ask.raw {
		r.context.Dictionary = in.KeyTexts(ctx, job)
	}
	begin, err := r.begin(ctx, in, job)
	if err != nil {
		return err
	}
	if ask.partitions == nil {
		r.ask.partitions = b.Topic().IDs()
		slices.Sort(r.ask.partitions)
	}
	var faults []error
	for _, p := range r.ask.partitions {
		if err := r.partition(ctx, p, begin); err != nil {
			faults = append(faults, err)
			if kind := fault.KindOf(err); kind == fault.Cancelled || kind == fault.Drift || r.broken {
				break // the other partitions would say the same
			}
		}
	}
	switch {
	case len(faults) == 0:
		return nil
	case r.shown == 0 || r.broken:
		return faults[0]
	}
	for _, err := range faults {
		a.printer().complain("not everything could be read", err)
	}
	return exitStatus(fault.Partial.Exit())
}

// recordsRun is one run of the command.
type recordsRun struct {
	*app
	ask     recordsAsk
	browser *inspect.RecordBrowser
	context inspect.RecordContext
	store   inspect.Store
	shown   int
	broken  bool // the output takes no more
}

// begin is where each partition begins; nil: at its log start.
func (r *recordsRun) begin(ctx context.Context, in *inspect.Inspector, job inspect.Job) (inspect.Offsets, error) {
	switch {
	case r.ask.fromMarker != "":
		return in.Marker(ctx, job, r.ask.fromMarker)
	case r.ask.fromTime != "":
		at, err := momentOf("from-time", r.ask.fromTime, r.clock.Now())
		if err != nil {
			return nil, err
		}
		return r.browser.At(ctx, at)
	default:
		return nil, nil
	}
}

// partition shows the range of one partition.
func (r *recordsRun) partition(ctx context.Context, id int32, begin inspect.Offsets) error {
	topic := r.browser.Topic()
	at := slices.IndexFunc(topic.Partitions, func(p inspect.Partition) bool { return p.ID == id })
	if at < 0 {
		return fault.New(fault.NotFound, "read records", "%s %s has no %s %d", r.store.Log(), safe(topic.Name), r.store.Part(), id)
	}
	p := topic.Partitions[at]
	if p.Err != nil {
		return p.Err
	}
	from, to := p.Log.Start, p.Log.End
	switch marker, known := begin[id]; {
	case r.ask.hasFrom:
		from = max(from, r.ask.from)
	case known:
		from = max(from, marker)
	case begin != nil:
		return fault.New(fault.NotFound, "read records", "where to begin on %s %d is not known", r.store.Part(), id)
	case r.ask.last > 0:
		var err error
		if from, err = r.lastFrom(ctx, id, to); err != nil {
			return err
		}
	}
	if r.ask.hasTo {
		to = min(to, r.ask.to)
	}
	return r.show(ctx, p, from, to)
}

// lastFrom is where the last records of a partition begin.
func (r *recordsRun) lastFrom(ctx context.Context, id int32, end int64) (int64, error) {
	from := end
	for missing := r.ask.last; missing > 0; {
		page, err := r.browser.Before(ctx, id, from, missing)
		if err != nil || len(page.Records) == 0 {
			return from, err
		}
		missing -= len(page.Records)
		from = page.Records[0].Offset
	}
	return from, nil
}

// pageRecords is how many records are read at a time.
const pageRecords = 500

func (r *recordsRun) show(ctx context.Context, p inspect.Partition, from, to int64) error {
	out := newRecordOutput(r, p, from, to)
	left := math.MaxInt
	if r.ask.limit > 0 {
		left = r.ask.limit
	}
	for from < to && left > 0 {
		page, err := r.browser.From(ctx, p.ID, from, min(left, pageRecords))
		if err != nil {
			return err
		}
		for _, record := range page.Records {
			if record.Offset >= to {
				break
			}
			left--
			r.shown++
			if err := out.record(record); err != nil {
				r.broken = true
				return err
			}
		}
		from = page.Next
		if out.table != nil {
			out.table.block() // a page is laid out by itself: a partition may be of any length
		}
	}
	if err := out.end(min(from, to), to); err != nil {
		r.broken = true
		return err
	}
	return nil
}

// rawRecord is the JSON form of a record as it lies there.
type rawRecord struct {
	Partition   int32                  `json:"partition"`
	Offset      int64                  `json:"offset"`
	Timestamp   time.Time              `json:"timestamp"`
	Control     inspect.TransactionEnd `json:"control"`
	Headers     []inspect.HeaderText   `json:"headers"`
	Key         *string                `json:"key"`
	KeyBase64   string                 `json:"keyBase64,omitempty"`
	Value       *string                `json:"value"`
	ValueBase64 string                 `json:"valueBase64,omitempty"`
}

// recordOutput writes the records of one partition.
type recordOutput struct {
	*recordsRun
	partition int32
	table     *table // nil: JSON
}

func newRecordOutput(r *recordsRun, p inspect.Partition, from, to int64) recordOutput {
	if r.ask.jsonUp {
		return recordOutput{recordsRun: r, partition: p.ID}
	}
	t := newTable(r.out, r.width)
	t.line(fmt.Sprintf("%s %d: offsets %s to %s; the log begins at %s and ends at %s", r.store.Part(), p.ID, figures.Group(from), figures.Group(to), figures.Group(p.Log.Start), figures.Group(p.Log.End)))
	if !r.ask.raw {
		t.row(num("OFFSET"), text("TIME"), text("KEY"), num("SEQ"), text("ACTION"), text("STATE"), num("BYTES"), text("CALLS"))
	}
	return recordOutput{r, p.ID, t}
}

func (o recordOutput) record(r inspect.LogRecord) error {
	d := inspect.DecodeRecord(r, o.context)
	switch {
	case o.table == nil && o.ask.raw:
		return writeLine(o.out, rawRecord{d.Partition, d.Offset, d.Timestamp, d.Control, d.Headers, d.Key, d.KeyBase64, d.Value, d.ValueBase64})
	case o.table == nil:
		return writeLine(o.out, d)
	case o.ask.raw:
		rawText(o.table, r, o.store)
	default:
		decodedRow(o.table, d, o.store)
	}
	return nil
}

// end says whether the range goes on.
func (o recordOutput) end(from, to int64) error {
	if o.table == nil {
		return nil
	}
	if from < to {
		o.table.line(fmt.Sprintf("and more: go on with --partition %d --from %d, or give --limit", o.partition, from))
	}
	o.table.line("")
	if err := o.table.flush(); err != nil {
		return notWritten(err)
	}
	return nil
}

func decodedRow(t *table, d inspect.DecodedRecord, store inspect.Store) {
	key, sequence, action := nothing, nothing, nothing
	switch {
	case d.Control != inspect.NotControl:
	case d.BusinessKey != nil:
		key, sequence, action = keyText(*d.BusinessKey), fmt.Sprint(*d.Sequence), d.ActionUUID
	case d.Key != nil:
		key = *d.Key
	case d.KeyBase64 != "":
		key = "base64 " + d.KeyBase64
	}
	size := nothing
	if d.ValueBytes != nil {
		size = figures.Group(*d.ValueBytes)
	}
	t.row(num(figures.Group(d.Offset)), text(d.Timestamp.Format("2006-01-02T15:04:05.000Z")), text(key), num(sequence), text(action), text(recordState(d, store)), num(size), text(recordCalls(d)))
}

// recordState says what a record is, and what is odd about it.
func recordState(d inspect.DecodedRecord, store inspect.Store) string {
	var words []string
	switch {
	case d.Control != inspect.NotControl:
		words = append(words, "transaction "+string(d.Control))
	case d.Removes:
		words = append(words, "tombstone")
	case d.State == nil:
		words = append(words, "unreadable: "+d.Problem)
	case d.State.Completed:
		words = append(words, "completed")
	default:
		words = append(words, "open")
	}
	if d.Control == inspect.NotControl && d.Generation == inspect.KeyUnattributable {
		words = append(words, "key of no known layout")
	}
	if d.Elsewhere != nil {
		words = append(words, fmt.Sprintf("belongs on %s %d", store.Part(), *d.Elsewhere))
	}
	if d.Producer != nil && d.Control == inspect.NotControl {
		words = append(words, "in a transaction")
	}
	return strings.Join(words, ", ")
}

func recordCalls(d inspect.DecodedRecord) string {
	if d.State == nil {
		return ""
	}
	var calls []string
	for _, c := range d.State.Calls {
		status := "no status"
		if c.Status != nil {
			status = *c.Status
		}
		calls = append(calls, fmt.Sprintf("%s#%d %s", c.FunctionID, c.Index, status))
	}
	return strings.Join(calls, ", ")
}

// rawText shows a record as it lies there.
func rawText(t *table, r inspect.LogRecord, store inspect.Store) {
	t.line(fmt.Sprintf("offset %s  %s", figures.Group(r.Offset), r.Timestamp.UTC().Format("2006-01-02T15:04:05.000Z")))
	for _, h := range r.Headers {
		kind := "header "
		if store == inspect.StoreFluss {
			kind = "column "
		}
		rawBytes(t, kind+safe(h.Key), h.Value)
	}
	rawBytes(t, "key", r.Key)
	rawBytes(t, "value", r.Value)
}

func rawBytes(t *table, name string, data []byte) {
	kind := payload.KindOf(data)
	switch kind {
	case payload.Null, payload.Empty:
		t.line(fmt.Sprintf("  %s: %s", name, kind))
	case payload.Binary:
		t.line(fmt.Sprintf("  %s: %s bytes", name, figures.Group(int64(len(data)))))
		for row := range payload.HexRows(data) {
			t.line("    " + payload.HexRow(data, row))
		}
	default:
		t.line(fmt.Sprintf("  %s: %s bytes", name, figures.Group(int64(len(data)))))
		for line := range strings.Lines(string(payload.Pretty(data))) {
			t.line("    " + strings.TrimSuffix(line, "\n"))
		}
	}
}
