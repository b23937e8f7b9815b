package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/inspect/explain"
	"github.com/recoverctl/recoverctl/internal/shellword"
)

// Each command that explain gives is one of this program, with flags and
// arguments that it takes, whether or not the profile knows the job.
func TestCommandsOfExplanationsCanBeRun(t *testing.T) {
	control := "action-state-control"
	jobs := explainedJobs(config.Profile{Name: "orders", Jobs: []config.Job{{Name: "order agent",
		ActionState: config.ActionState{Topic: "action-state", ControlTopic: &control}, RecoveryPoints: []string{"s3://flink-state"}}}}, nil, "--config 'my config.yaml'")
	checked := 0
	for _, file := range []string{"messages", "kafka-4.3.0", "flink-2.3.0", "flink-2.3.0-run", "flink-1.20.5"} {
		data, err := os.ReadFile("../../inspect/explain/testdata/" + file + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		for section := range strings.SplitSeq("\n"+string(data), "\n### ") {
			for _, known := range [][]explain.Job{nil, jobs} {
				for _, m := range explain.Text(section, known).Matches {
					for _, next := range m.Next {
						at := strings.Index(next, "recoverctl ")
						if at > 0 && !strings.HasSuffix(next[:at], ": ") || at < 0 {
							continue
						}
						checked++
						wantCommand(t, m.Rule, strings.TrimSuffix(strings.TrimSuffix(next[at:], " lists files that nothing references."), "."))
					}
				}
			}
		}
	}
	if checked < 400 {
		t.Errorf("%d commands", checked)
	}
}

// wantCommand fails where a line is no command of this program.
func wantCommand(t *testing.T, rule, line string) {
	t.Helper()
	words, ok := shellword.Split(line)
	if !ok || len(words) < 2 {
		t.Errorf("%s: %q is no command", rule, line)
		return
	}
	cmd, rest, err := tree().Find(words[1:])
	if err != nil || !cmd.Runnable() {
		t.Errorf("%s: %q: %v", rule, line, err)
		return
	}
	// Places that the operator fills in stand for numbers as well.
	for i, word := range rest {
		if slices.Contains([]string{"PARTITION", "OFFSET"}, word) {
			rest[i] = "0"
		}
	}
	if err := cmd.ParseFlags(rest); err != nil {
		t.Errorf("%s: %q: %v", rule, line, err)
		return
	}
	if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
		t.Errorf("%s: %q: %v", rule, line, err)
	}
	if err := cmd.ValidateRequiredFlags(); err != nil {
		t.Errorf("%s: %q: %v", rule, line, err)
	}
}

// What a text says can't add a command to the one that it is repeated in.
func TestCommandsOfExplanationsQuoteWhatTheTextSays(t *testing.T) {
	e := explain.Text("Kafka cleanup control topic x;rm\t-rf does not exist; apply a cleanup plan before enabling", nil)
	if len(e.Matches) > 0 { // a topic has no blank
		t.Errorf("%+v", e.Matches)
	}
	for _, text := range []string{
		"Kafka cleanup control topic $(reboot) must use cleanup.policy=compact without delete retention",
		"Topic x;reboot not present in metadata after 5000 ms",
		"Could not retrieve checkpoint 1 from state handle under a. This indicates that the retrieved state handle is broken. Restoring job 4f3c9be1a0d24c6f8a1b2c3d4e5f6071 from Checkpoint 12 @ 1 for 4f3c9be1a0d24c6f8a1b2c3d4e5f6071 located at s3://b/$(reboot).",
		"Failed to get offsets for Fluss table: db.`reboot`",
	} {
		e := explain.Text(text, nil)
		if len(e.Matches) != 1 {
			t.Fatalf("%q: %+v", text, e.Matches)
		}
		quoted := false
		for _, next := range e.Matches[0].Next {
			if !strings.HasPrefix(next, "recoverctl ") && !strings.HasPrefix(next, "kafka-") || !strings.Contains(next, "reboot") {
				continue
			}
			words, ok := shellword.Split(next)
			for _, word := range words {
				if strings.Contains(word, "reboot") {
					quoted = ok && strings.Contains(next, "'"+word+"'")
				}
			}
			if !quoted {
				t.Errorf("%q", next)
			}
		}
		if !quoted {
			t.Errorf("%q names it nowhere: %q", text, e.Matches[0].Next)
		}
	}
}
