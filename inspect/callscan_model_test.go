package inspect_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/inspect"
)

// logged is a record of the model's topic.
type logged struct {
	partition int32
	offset    int64
	time      int64
	id        recordID
	kind      string // open, completed, tombstone, unreadable
	calls     []modelCall
}

// filler is the action of records that only make the scan forget.
const filler = 9

// recordID is what a record key says.
type recordID struct {
	generation    int
	text          string
	sequence      int
	event, action int
}

type modelCall struct {
	function string
	pending  bool
}

func (id recordID) key() string {
	uuid := func(kind, n int) string { return fmt.Sprintf("%08d-0000-3000-8000-%012d", kind, n) }
	event, action := uuid(1, id.event), uuid(2, id.action)
	if id.generation == 1 {
		return fmt.Sprintf("%s_%d_%s_%s", id.text, id.sequence, event, action)
	}
	digest := strings.Repeat("A", 42-len(id.text)) + id.text + "A="
	return fmt.Sprintf("5_%d_%s_%s_%s", id.sequence, event, action, digest)
}

func (r logged) value() []byte {
	switch r.kind {
	case "tombstone":
		return nil
	case "unreadable":
		return []byte("{")
	}
	var calls []string
	for _, c := range r.calls {
		status := "SUCCEEDED"
		if c.pending {
			status = "PENDING"
		}
		calls = append(calls, fmt.Sprintf(`{"functionId":%q,"argsDigest":"","resultPayload":null,"exceptionPayload":null,"status":%q}`, c.function, status))
	}
	return fmt.Appendf(nil, `{"taskEvent":{"type":"t"},"callResults":[%s],"completed":%t}`, strings.Join(calls, ","), r.kind == "completed")
}

// modelAction is an action as the model tells it.
type modelAction struct {
	id                     recordID
	partition              int32
	first, offset, records int64
	tombstone, unreadable  int64
	completed              bool
	calls                  []string // index, function, state, seen, lost
	unmatched              bool
}

type modelHeld struct {
	index      int
	modelCall  modelCall
	seen, lost int64
	here       bool
}

// told folds the whole history of one record key.
func told(history []logged) (open *modelAction, done *modelAction) {
	var calls []modelHeld
	for _, r := range history {
		begin := func() *modelAction {
			calls = nil
			done = nil
			return &modelAction{id: r.id, partition: r.partition, first: r.offset, tombstone: -1, unreadable: -1}
		}
		switch {
		case r.kind == "unreadable":
			if open != nil {
				open.unreadable = r.offset
			}
			continue
		case r.kind == "tombstone" && open == nil:
			if done != nil {
				done.tombstone = r.offset
			}
			continue
		case r.kind == "tombstone" && len(calls) == 0:
			open = nil
			continue
		case r.kind == "completed":
			was := open
			if was == nil {
				was = begin()
			}
			was.records++
			was.offset, was.completed, was.tombstone, was.unreadable = r.offset, true, -1, -1
			open, done, calls = nil, was, nil
			continue
		}
		if open == nil {
			open = begin()
		}
		open.records++
		open.offset, open.unreadable, open.tombstone = r.offset, -1, -1
		if r.kind == "tombstone" {
			open.tombstone = r.offset
		}
		var now, lost []modelHeld
		for i, c := range r.calls {
			held := modelHeld{index: i, lost: -1}
			at := slices.IndexFunc(calls, func(h modelHeld) bool { return h.index == i && h.modelCall.function == c.function })
			if at >= 0 {
				held = calls[at]
				calls = slices.Delete(calls, at, at+1)
			}
			held.modelCall, held.seen, held.here = c, r.offset, true
			now = append(now, held)
		}
		for _, h := range calls {
			if h.here && h.lost < 0 {
				h.lost = r.offset
			}
			h.here = false
			lost = append(lost, h)
		}
		calls = append(now, lost...)
	}
	if open != nil {
		for _, h := range calls {
			state := inspect.CallSaved
			switch {
			case h.modelCall.pending && h.here:
				state = inspect.CallPending
			case h.modelCall.pending:
				state = inspect.CallOverwritten
			}
			open.calls = append(open.calls, fmt.Sprintf("%d %s %s seen %d lost %d", h.index, h.modelCall.function, state, h.seen, h.lost))
		}
		slices.Sort(open.calls)
	}
	return open, done
}

// model answers from the whole log at once.
func model(log []logged) (open, siblings []modelAction, runsAgain func(marker int64) int64) {
	histories := map[string][]logged{}
	var keys []string
	for _, r := range log {
		key := fmt.Sprint(r.partition, r.id)
		if histories[key] == nil {
			keys = append(keys, key)
		}
		histories[key] = append(histories[key], r)
	}
	slices.Sort(keys)
	var ended []modelAction
	for _, key := range keys {
		now, done := told(histories[key])
		if now != nil {
			open = append(open, *now)
		}
		if done != nil && done.tombstone < 0 {
			ended = append(ended, *done)
		}
	}
	for i := range open {
		a := &open[i]
		if a.id.generation == 1 {
			for _, r := range log {
				same := r.partition == a.partition && r.id.text == a.id.text && r.id.sequence == a.id.sequence && r.id.event == a.id.event && r.id.generation == 1
				if same && r.id.action != a.id.action && replacedInModel(log, a.id.action, r.id.action) {
					a.unmatched = true
				}
			}
		}
		if a.unmatched {
			for n, c := range a.calls {
				a.calls[n] = strings.Replace(c, " pending ", " unmatched ", 1)
			}
		}
	}
	for _, d := range ended {
		if slices.ContainsFunc(open, func(a modelAction) bool {
			return a.tombstone < 0 && a.partition == d.partition && a.id.text == d.id.text && a.id.sequence == d.id.sequence && a.id.generation == d.id.generation
		}) {
			siblings = append(siblings, d)
		}
	}
	return open, siblings, func(marker int64) int64 { return completedInModel(histories, marker) }
}

// replacedInModel: no record of the old id lies behind the first of the new one,
// by offset on one partition and by time between two.
func replacedInModel(log []logged, old, new int) bool {
	var olds, news []logged
	for _, r := range log {
		switch {
		case r.id.generation != 1:
		case r.id.action == old:
			olds = append(olds, r)
		case r.id.action == new:
			news = append(news, r)
		}
	}
	for _, a := range olds {
		for _, b := range news {
			if a.partition == b.partition && a.offset > b.offset || a.partition != b.partition && a.time >= b.time {
				return false
			}
		}
	}
	return true
}

// completedInModel counts calls of completed actions that run again: of
// generation 1 all in the window, of generation 3 those that a tombstone removed.
func completedInModel(histories map[string][]logged, marker int64) (n int64) {
	for _, history := range histories {
		calls := map[string]bool{}
		var ended int64 // calls of the last completion in the window that no record followed
		for _, r := range history {
			switch r.kind {
			case "open":
				ended = 0
				for i, c := range r.calls {
					calls[fmt.Sprint(i, c.function)] = true
				}
			case "completed":
				ended = 0
				if r.offset >= marker {
					ended = int64(len(calls))
				}
				if r.id.generation == 1 {
					n += ended
				}
				clear(calls)
			case "tombstone":
				if r.id.generation == 3 {
					n += ended
				}
				ended = 0
			}
		}
	}
	return n
}

// The engine, which forgets, answers as a model that has the whole log.
func TestTheScanAgreesWithTheWholeHistory(t *testing.T) {
	partitions := make([]int32, 512) // many, so that few keys of one are kept
	for i := range partitions {
		partitions[i] = int32(i)
	}
	rapid.Check(t, func(t *rapid.T) {
		var log []logged
		next := map[int32]int64{}
		clock := int64(1000)
		add := func(r logged) {
			if r.id.action != filler {
				clock += int64(rapid.IntRange(0, 2).Draw(t, "pause"))
			}
			r.offset, r.time = next[r.partition], clock
			next[r.partition]++
			log = append(log, r)
		}
		count := rapid.IntRange(1, 60).Draw(t, "records")
		flood := rapid.IntRange(0, 3*count).Draw(t, "flood") // mostly none
		for n := range count {
			r := logged{id: recordID{
				generation: rapid.SampledFrom([]int{1, 3}).Draw(t, "generation"),
				text:       rapid.SampledFrom([]string{"a", "b"}).Draw(t, "key"),
				sequence:   rapid.IntRange(0, 2).Draw(t, "sequence"),
				event:      rapid.IntRange(0, 1).Draw(t, "event"),
				action:     rapid.IntRange(0, 3).Draw(t, "action"),
			}}
			if r.id.text == "b" {
				r.partition = 1
			}
			r.kind = rapid.SampledFrom([]string{"open", "open", "open", "completed", "tombstone", "unreadable"}).Draw(t, "kind")
			if r.kind == "open" {
				for range rapid.IntRange(0, 3).Draw(t, "calls") {
					r.calls = append(r.calls, modelCall{rapid.SampledFrom([]string{"f", "g"}).Draw(t, "function"), rapid.Bool().Draw(t, "pending")})
				}
			}
			add(r)
			if n == flood {
				for n := range 1100 {
					add(logged{partition: r.partition, kind: "completed", id: recordID{generation: 1, text: fmt.Sprint("filler", n), action: filler}})
				}
			}
		}
		marker := rapid.Int64Range(0, 40).Draw(t, "marker")
		checkAgainstModel(t, log, next, partitions, marker)
	})
}

func checkAgainstModel(t *rapid.T, log []logged, ends map[int32]int64, partitions []int32, marker int64) {
	point := inspect.PointMarker{Point: "p", Offsets: inspect.Offsets{0: marker, 1: marker}}
	scan := inspect.NewCallScan(inspect.CallQuestion{Points: []inspect.PointMarker{point}}, partitions)
	extent := inspect.ScanExtent{From: inspect.Offsets{0: 0, 1: 0}, Read: inspect.Offsets(ends)}
	for _, r := range log {
		lent([]byte(r.id.key()), r.value(), func(key, value []byte) { scan.Visit(r.partition, r.offset, r.time, key, value) })
	}
	final := []inspect.DurableCalls{scan.Final(0), scan.Final(1)}
	for _, w := range scan.Second(extent) {
		for _, r := range log {
			if r.partition == w.Partition && w.From <= r.offset && r.offset < w.To {
				lent([]byte(r.id.key()), r.value(), func(key, value []byte) { scan.Visit(r.partition, r.offset, r.time, key, value) })
			}
		}
	}
	final = append(final, scan.Final(0), scan.Final(1))
	got := scan.Finish(extent)
	checkFinal(t, final, got, log)
	open, siblings, completed := model(log)
	if want := completed(marker); got.Points[0].Completed != want {
		t.Fatalf("%d calls of completed actions run again from %d, want %d\n%s", got.Points[0].Completed, marker, want, story(log))
	}
	compareActions(t, "open actions", got.Actions, open, log)
	compareActions(t, "siblings", got.Siblings, siblings, log)
}

// checkFinal holds what was told to be final against the answer: the same words,
// each action once, and all of generation 3.
func checkFinal(t *rapid.T, final []inspect.DurableCalls, got inspect.DurableCalls, log []logged) {
	lists := func(c inspect.DurableCalls) [][]inspect.ActionCalls {
		return [][]inspect.ActionCalls{c.Actions, c.Siblings, c.Removed}
	}
	for i, want := range lists(got) {
		var told []inspect.ActionCalls
		for _, f := range final {
			told = append(told, lists(f)[i]...)
		}
		want = slices.DeleteFunc(slices.Clone(want), func(a inspect.ActionCalls) bool { return a.Generation != inspect.KeyGeneration3 })
		if a, b := tellings(t, told), tellings(t, want); !slices.Equal(a, b) {
			t.Fatalf("list %d: final were\n%s\nthe answer has\n%s\n%s", i, strings.Join(a, "\n"), strings.Join(b, "\n"), story(log))
		}
	}
}

// tellings are actions as text, in order.
func tellings(t *rapid.T, actions []inspect.ActionCalls) []string {
	var out []string
	for _, a := range actions {
		text, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	slices.Sort(out)
	return out
}

func compareActions(t *rapid.T, what string, got []inspect.ActionCalls, want []modelAction, log []logged) {
	var a, b []string
	for _, g := range got {
		var calls []string
		for _, c := range g.Calls {
			lost := int64(-1)
			if c.Lost != nil {
				lost = c.Lost.Offset
			}
			calls = append(calls, fmt.Sprintf("%d %s %s seen %d lost %d", c.Index, c.FunctionID, c.State, c.Seen.Offset, lost))
		}
		slices.Sort(calls)
		tombstone, unreadable := int64(-1), int64(-1)
		if g.Tombstone != nil {
			tombstone = g.Tombstone.Offset
		}
		if g.Unreadable != nil {
			unreadable = g.Unreadable.Offset
		}
		key := g.Key.Digest
		if g.Key.Text != nil {
			key = *g.Key.Text
		}
		a = append(a, fmt.Sprintf("%d/%d %s %d %s %s: %d records from %d, tombstone %d, unreadable %d, %t %t %q",
			g.Partition, g.Offset, key, g.Sequence, g.EventUUID, g.ActionUUID, g.Records, g.First, tombstone, unreadable, g.Completed, g.Unmatched, calls))
	}
	for _, w := range want {
		k := inspect.ParseActionKey([]byte(w.id.key()))
		b = append(b, fmt.Sprintf("%d/%d %s %d %s %s: %d records from %d, tombstone %d, unreadable %d, %t %t %q",
			w.partition, w.offset, k.Text, k.Sequence, k.Event, k.Action, w.records, w.first, w.tombstone, w.unreadable, w.completed, w.unmatched, w.calls))
	}
	slices.Sort(a)
	slices.Sort(b)
	if !reflect.DeepEqual(a, b) {
		in := func(list []string) func(string) bool { return func(s string) bool { return slices.Contains(list, s) } }
		both := slices.Clone(a)
		a, b = slices.DeleteFunc(a, in(b)), slices.DeleteFunc(b, in(both))
		t.Fatalf("%s:\n%s\nwant\n%s\nof\n%s", what, strings.Join(a, "\n"), strings.Join(b, "\n"), story(log))
	}
}

func story(log []logged) string {
	var b strings.Builder
	for _, r := range slices.SortedStableFunc(slices.Values(log), func(a, b logged) int { return cmp.Compare(a.partition, b.partition) }) {
		if !strings.HasPrefix(r.id.text, "filler") {
			fmt.Fprintf(&b, "%d/%d %d %+v %s %v\n", r.partition, r.offset, r.time, r.id, r.kind, r.calls)
		}
	}
	return b.String()
}
