package explain_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"go.uber.org/goleak"

	messages "github.com/recoverctl/recoverctl/inspect/explain"
	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/explain"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const log = `2026-11-29 14:02:11,034 INFO  CheckpointCoordinator [] - Restoring job 4f3c9be1a0d24c6f8a1b2c3d4e5f6071 from Checkpoint 12 @ 1764424931034 for 4f3c9be1a0d24c6f8a1b2c3d4e5f6071 located at s3://flink-state/checkpoints/4f3c/chk-12.
java.lang.RuntimeException: Failed to rebuild state from Kafka
	at org.apache.flink.agents.runtime.actionstate.KafkaActionStateStore.rebuildState(KafkaActionStateStore.java:301)
Caused by: java.lang.IllegalStateException: Cannot restore Kafka action state for action-state-0 from offset 100 because the committed cleanup boundary is 150
	at org.apache.flink.util.Preconditions.checkState(Preconditions.java:215)
com.example.PaymentException: declined
	at com.example.Pay.call(Pay.java:12)
`

func screen() *explain.Screen {
	return explain.New(explain.Options{Theme: viewtest.Plain(), Jobs: []messages.Job{{Flags: "-p orders -j order-agent", Topics: []string{"action-state"}}}})
}

func TestWhatAPasteSays(t *testing.T) {
	for _, size := range []tui.Size{{Width: 80, Height: 24}, {Width: 120, Height: 40}, {Width: 200, Height: 60}, {Width: 60, Height: 15}} {
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(), size.Width, size.Height)
		d.Golden(fmt.Sprintf("waiting-%dx%d", size.Width, size.Height))
		d.Paste(log)
		d.WaitIdle()
		d.Golden(fmt.Sprintf("said-%dx%d", size.Width, size.Height))
	}
}

func TestOfWhatIsNotKnownTheScreenSaysSo(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(), 80, 24)
	d.Paste("all is well\n\x1b]0;title\x07")
	d.WaitIdle()
	if frame := d.Frame(); !strings.Contains(frame, "No known message is in 2 lines.") {
		t.Error(frame)
	}
}

// A log that was cut says so first: what failed last stands at its end.
func TestAPasteThatWasCutIsToldOf(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(), 80, 24)
	d.PasteCut(strings.Repeat("all is well\n", 700))
	d.WaitIdle()
	for _, want := range []string{"! The paste was cut after 64 KiB", "recoverctl", "No known message is in 700 lines."} {
		if frame := d.Frame(); !strings.Contains(frame, want) {
			t.Errorf("%q is not on the screen:\n%s", want, frame)
		}
	}
	d.Paste("all is well\n")
	d.WaitIdle()
	if frame := d.Frame(); strings.Contains(frame, "cut") {
		t.Errorf("a whole one is called cut:\n%s", frame)
	}
}

// Another paste asks anew, and what is copied has the commands whole.
func TestAnotherPasteAndTheCopy(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(), 80, 24)
	d.Press("y")
	if frame := d.Frame(); !strings.Contains(frame, "nothing was pasted yet") {
		t.Error(frame)
	}
	d.Paste("You cannot add null to a ListState.")
	d.WaitIdle()
	d.Paste(log)
	d.WaitIdle()
	d.Press("y")
	_, copied, _ := strings.Cut(d.Clipboard(), ";c;")
	text, err := base64.StdEncoding.DecodeString(strings.TrimRight(copied, "\x07\x1b\\"))
	if copied := string(text); err != nil || !strings.Contains(copied, "next: recoverctl validate restore s3://flink-state/checkpoints/4f3c/chk-12 -p orders -j order-agent") || strings.Contains(copied, "ListState") {
		t.Error(copied)
	}
}

func TestStorm(t *testing.T) {
	tuitest.StormWith(t, viewtest.Options(viewtest.Plain()), func() tui.Screen { return screen() })
}
