package fluss_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/testkit/flusstest"
	"github.com/recoverctl/recoverctl/internal/testkit/stores"
)

// saved is the key and the payload of an action whose call has its result on
// record, by the keys of the work after release 0.3.
func saved(agent string) (key, payload string) {
	digest := sha256.Sum256([]byte(agent))
	key = fmt.Sprintf("5_0_%s_%s_%s", event, action, base64.StdEncoding.EncodeToString(digest[:]))
	return key, `{"taskEvent":{"type":"t","attributes":{}},"callResults":[{"functionId":"charge","argsDigest":"","resultPayload":"cmVjZWlwdA==","exceptionPayload":null,"status":"SUCCEEDED"}],"completed":false}`
}

// A store that writes its states anew takes the log ends for the marker first. The
// second time it was stopped half-way: from the recovery point before, everything
// is still found; from the half-written one, what was not written again is not, and
// whether the store had it any more is not known.
func TestARestoreAfterStatesWereWrittenAnewHalfWay(t *testing.T) {
	c := started(t, flusstest.Options{})
	log := table(t, c, 1)
	put := func(agents ...string) {
		for _, agent := range agents {
			key, payload := saved(agent)
			if _, err := c.Append(log, 0, 1000, []any{key, []byte(payload), agent}); err != nil {
				t.Fatal(err)
			}
		}
	}
	put("a", "b") // offsets 0 and 1
	put("a", "b") // of the first recovery point, whose marker is 2
	put("a")      // of the second, whose marker is 4: b is missing

	s := storeOf(t, c, nil)
	points := []inspect.PointMarker{{Point: "file:/chk-1", Offsets: inspect.Offsets{0: 2}}, {Point: "file:/chk-2", Offsets: inspect.Offsets{0: 4}}}
	for release, want := range map[inspect.Release]map[int64][2]inspect.CallOutcome{ // by the offset of the last record
		inspect.ReleaseNext: {4: {inspect.CallReused, inspect.CallReused}, 3: {inspect.CallReused, inspect.CallUnknown}},
		inspect.Release03:   {4: {inspect.CallRunsAgain, inspect.CallRunsAgain}, 3: {inspect.CallRunsAgain, inspect.CallRunsAgain}},
	} {
		got, err := s.ReadCalls(t.Context(), described(t, s), inspect.CallQuestion{Job: inspect.Job{Store: inspect.StoreFluss, Topic: path.String(), Runtime: release}, Points: points}, nil)
		if err != nil || len(got.Actions) != 2 {
			t.Fatal(err, len(got.Actions))
		}
		if release == inspect.ReleaseNext {
			// Which records, in which bucket, how many of how many.
			at := slices.IndexFunc(got.Findings, func(f inspect.Finding) bool { return f.Rule == "rewritten-in-part" })
			if at < 0 || !slices.Equal(got.Findings[at].Refs, []string{"bucket 0 offset 3"}) || !strings.Contains(got.Findings[at].Cause, "bucket 0: 1 of 2") {
				t.Errorf("%+v", got.Findings)
			}
			first, second := *got.Points[0].Rewritten, *got.Points[1].Rewritten
			if first.Found != 2 || first.Records != 2 || second.Open != 2 || second.Found != 1 || second.Records != 1 || second.Bytes == 0 {
				t.Errorf("%+v, %+v", first, second)
			}
		}
		for _, a := range got.Actions {
			outcomes := [2]inspect.CallOutcome{a.Outcomes[0].Outcome, a.Outcomes[1].Outcome}
			if outcomes != want[a.Offset] {
				t.Errorf("release %s, offset %d: %v, want %v", release, a.Offset, outcomes, want[a.Offset])
			}
			if a.Offset == 4 && a.Repeated != 3 || a.Offset == 3 && a.Repeated != 2 {
				t.Errorf("offset %d: the same record %d times in a row", a.Offset, a.Repeated)
			}
		}
	}
}

// A validation says what a restore does not see, and why.
func TestAValidationSaysWhatWasNotWrittenAnew(t *testing.T) {
	c := started(t, flusstest.Options{})
	log := table(t, c, 1)
	put := func(agents ...string) {
		for _, agent := range agents {
			key, payload := saved(agent)
			if _, err := c.Append(log, 0, 1000, []any{key, []byte(payload), agent}); err != nil {
				t.Fatal(err)
			}
		}
	}
	put("a", "b")
	put("a", "b", "a")
	in := inspect.New(stores.Points{}, storeOf(t, c, nil), clock.System{}).CountingCalls(nil)
	job := inspect.Job{Name: "orders", Store: inspect.StoreFluss, Topic: path.String(), Runtime: inspect.ReleaseNext, Partitions: 1}
	for at, want := range map[int64]string{
		2: "",
		4: "Of what was open at its marker, 2 actions, the restore does not see 1: their states were written anew in part only, or the store had let go of them.",
		5: "Of what was open at its marker, 2 actions, the restore does not see 2: nothing was written anew behind it, and no later release repairs that.",
	} {
		v, faults := in.ValidateMarkers(t.Context(), job, "a file", []inspect.Marker{{Kind: inspect.MarkerLegacy, Offsets: inspect.Offsets{0: at}}})
		notes := strings.Join(v.Notes, "\n")
		if len(faults) > 0 || v.Verdict != inspect.Accepted || v.Calls == nil || !strings.Contains(notes, want) || want == "" && strings.Contains(notes, "Of what was open") {
			t.Errorf("a marker of %d: %s, %v\n%s", at, v.Verdict, faults, notes)
		}
	}
}
