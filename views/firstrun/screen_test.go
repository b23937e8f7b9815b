package firstrun_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/recoverctl/recoverctl/tui"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/tui/tuitest"
	"github.com/recoverctl/recoverctl/views/firstrun"
	"github.com/recoverctl/recoverctl/views/viewtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func screen(th theme.Theme) *firstrun.Screen {
	return firstrun.New(firstrun.Options{Theme: th, Config: "/home/ops/.config/recoverctl/config.yaml"})
}

func TestFrames(t *testing.T) {
	of := func() tui.Screen { return screen(viewtest.Plain()) }
	viewtest.Goldens(t, map[string]viewtest.Case{
		"demo":    {Screen: of},
		"ad-hoc":  {Screen: of, Keys: []string{"a"}},
		"config":  {Screen: of, Keys: []string{"c"}},
		"nowhere": {Screen: func() tui.Screen { return firstrun.New(firstrun.Options{Theme: viewtest.Plain()}) }, Keys: []string{"c"}},
	})
}

// Each offer shows one command, whole, and copies exactly that.
func TestEachOfferCopiesItsCommand(t *testing.T) {
	tests := map[string]string{
		"d": "recoverctl demo",
		"a": "recoverctl --brokers k1:9092,k2:9092 \\\n  --topic action-state --control-topic action-state-control \\\n  --points s3://bucket/checkpoints/JOB --points s3://bucket/savepoints \\\n  --flink-rest http://jobmanager:8081 --runtime 0.3",
		"c": "recoverctl config init",
	}
	for key, command := range tests {
		d := tuitest.New(t, viewtest.Options(viewtest.Plain()), screen(viewtest.Plain()), 80, 24)
		d.Press("tab", "tab", "tab", key) // from any of them
		for _, line := range strings.Split(command, "\n") {
			if !strings.Contains(d.Frame(), line+"\n") {
				t.Errorf("%s: %q is not on the screen as it is:\n%s", key, line, d.Frame())
			}
		}
		d.Press("y")
		if !strings.Contains(d.Clipboard(), base64.StdEncoding.EncodeToString([]byte(command))) {
			t.Errorf("%s: the clipboard got %q", key, d.Clipboard())
		}
	}
}

func TestHostileBytesAndASCII(t *testing.T) {
	d := tuitest.New(t, viewtest.Options(viewtest.Plain()), firstrun.New(firstrun.Options{Theme: viewtest.Plain(), Config: viewtest.Hostile}), 80, 24)
	d.Press("c")
	viewtest.Harmless(t, d)
	for _, key := range []string{"d", "a", "c"} {
		ascii := viewtest.ASCIITheme()
		d := tuitest.New(t, viewtest.Options(ascii), screen(ascii), 60, 15)
		d.Press(key)
		viewtest.ASCII(t, d)
	}
}
