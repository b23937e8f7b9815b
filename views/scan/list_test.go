package scan

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/inspect"
)

var begun = time.Date(2024, time.May, 14, 14, 3, 0, 0, time.UTC)

// action is one with calls in these states, begun some seconds ago.
func action(partition int32, first int64, age int, states ...inspect.CallState) inspect.ActionCalls {
	a := inspect.ActionCalls{Partition: partition, First: first, Offset: first, Timestamp: begun.Add(-time.Duration(age) * time.Second)}
	for i, state := range states {
		a.Calls = append(a.Calls, inspect.Call{Index: i, FunctionID: fmt.Sprint("f", i), State: state})
	}
	return a
}

func ids(l List) []string {
	out := make([]string, l.Len())
	for i := range out {
		out[i] = l.At(i).ID()
	}
	return out
}

// What would run again comes first, then what is not known, then what the
// reconciler is asked about; among equals the oldest. Only the chosen recovery
// points count.
func TestTheWorstComesFirst(t *testing.T) {
	outcome := func(a inspect.ActionCalls, o ...inspect.CallOutcome) inspect.ActionCalls {
		for i := range a.Calls {
			a.Calls[i].Outcomes = []inspect.PointOutcome{{Point: "chk-44", Outcome: o[0]}, {Point: "chk-43", Outcome: o[1]}}
		}
		return a
	}
	again, asked, reused, unknown := inspect.CallRunsAgain, inspect.CallReconciler, inspect.CallReused, inspect.CallUnknown
	actions := []inspect.ActionCalls{
		outcome(action(0, 1, 900, inspect.CallSaved), reused, again),
		outcome(action(0, 2, 10, inspect.CallPending), again, again),
		outcome(action(0, 3, 700, inspect.CallPending), asked, asked),
		outcome(action(0, 4, 20, inspect.CallSaved), again, again),
		outcome(action(0, 5, 5, inspect.CallPending), unknown, reused),
		action(0, 6, 5000),
	}
	tests := map[string]struct {
		points []string
		want   []string
	}{
		"from one point":  {[]string{"chk-44"}, []string{"0/4/0", "0/2/0", "0/5/0", "0/3/0", "0/1/0", "0/6/-1"}},
		"from two points": {[]string{"chk-44", "chk-43"}, []string{"0/1/0", "0/4/0", "0/2/0", "0/5/0", "0/3/0", "0/6/-1"}},
		"from none":       {nil, []string{"0/3/0", "0/2/0", "0/5/0", "0/1/0", "0/4/0", "0/6/-1"}}, // pending before saved
	}
	for name, tt := range tests {
		if got := ids(Sort(actions, tt.points)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// Whatever comes, changes and ends, each list holds the rows that there are, in
// their order; each row is found; and lists that were given out stay as they are.
func TestListsAreThoseOfAPlainSort(t *testing.T) {
	states := []inspect.CallState{inspect.CallPending, inspect.CallOverwritten, inspect.CallSaved, inspect.CallUnmatched}
	rapid.Check(t, func(t *rapid.T) {
		var b builder
		model := map[inspect.RecordPosition]inspect.ActionCalls{}
		var early List
		var earlyIDs []string
		for range rapid.IntRange(1, 12).Draw(t, "updates") {
			var u inspect.CallUpdate
			for range rapid.IntRange(0, 120).Draw(t, "changed") {
				at := inspect.RecordPosition{Partition: rapid.Int32Range(0, 3).Draw(t, "p"), Offset: rapid.Int64Range(0, 200).Draw(t, "first")}
				a := action(at.Partition, at.Offset, rapid.IntRange(0, 50).Draw(t, "age"))
				for i := range rapid.IntRange(0, 3).Draw(t, "calls") {
					a.Calls = append(a.Calls, inspect.Call{Index: i, State: rapid.SampledFrom(states).Draw(t, "state")})
				}
				u.Changed = append(u.Changed, a)
				model[at] = a
			}
			for range rapid.IntRange(0, 60).Draw(t, "closed") {
				at := inspect.RecordPosition{Partition: rapid.Int32Range(0, 3).Draw(t, "p"), Offset: rapid.Int64Range(0, 200).Draw(t, "first")}
				u.Closed = append(u.Closed, at)
				delete(model, at)
			}
			b.take(u)
			l := b.list()
			var rows []Row
			for _, a := range model {
				rows = append(rows, rowsOf(&a, nil)...)
			}
			slices.SortFunc(rows, compare)
			got := ids(l)
			if len(rows) != len(got) {
				t.Fatalf("%d rows, want %d", len(got), len(rows))
			}
			walk := l.Walk()
			for i, row := range rows {
				if at := rapid.IntRange(0, len(rows)-1).Draw(t, "at"); walk(at) != l.At(at) || walk(i) != l.At(i) {
					t.Fatalf("walking to row %d or %d gives another row", at, i)
				}
				if row.ID() != got[i] {
					t.Fatalf("row %d is %s, want %s", i, got[i], row.ID())
				}
				if at, ok := l.Find(row.ID()); !ok || at != i {
					t.Fatalf("%s is found at %d, %v; it is at %d", row.ID(), at, ok, i)
				}
			}
			if _, ok := l.Find("9/9/9"); ok {
				t.Fatal("a row that is not there was found")
			}
			if earlyIDs != nil && !slices.Equal(ids(early), earlyIDs) {
				t.Fatal("an earlier list has changed")
			}
			early, earlyIDs = l, got
		}
	})
}

// Times that no log should hold keep their order.
func TestAnyTimeHasAPlace(t *testing.T) {
	times := []time.Time{{}, time.UnixMilli(-1 << 62), time.UnixMilli(-5), time.UnixMilli(0), begun, begun.Add(1), time.UnixMilli(1 << 62)}
	for i := range times[1:] {
		a, b := times[i], times[i+1]
		if got := cmp.Compare(nanos(a), nanos(b)); got > 0 && a.Before(b) {
			t.Errorf("%s comes after %s", a, b)
		}
	}
}

// million are actions with one pending call each.
func million(n int) inspect.CallUpdate {
	r := rand.New(rand.NewPCG(1, 2))
	u := inspect.CallUpdate{Changed: make([]inspect.ActionCalls, n)}
	for i := range u.Changed {
		u.Changed[i] = action(int32(i%64), int64(i/64), r.IntN(1_000_000), inspect.CallPending)
	}
	return u
}

// BenchmarkUpdate is what one update of 2,000 changed actions costs the goroutine
// that makes the lists, beside those of the scan and of the console.
func BenchmarkUpdate(b *testing.B) {
	for _, n := range []int{10_000, 1_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var build builder
			build.take(million(n))
			r := rand.New(rand.NewPCG(3, 4))
			for b.Loop() {
				var u inspect.CallUpdate
				for range 1_000 {
					i := r.IntN(n)
					u.Changed = append(u.Changed, action(int32(i%64), int64(i/64), r.IntN(1_000_000), inspect.CallOverwritten))
					u.Closed = append(u.Closed, inspect.RecordPosition{Partition: int32(i % 64), Offset: int64(r.IntN(n) / 64)})
				}
				build.take(u)
				build.list()
			}
		})
	}
}
