package secret

import (
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
)

// The child of the command keeps the pipe open after the command was stopped.
func TestACommandThatHangsIsStopped(t *testing.T) {
	source := Source{Command: []string{"sh", "-c", "sleep 60 & wait"}}
	begun := time.Now()
	_, err := source.runCommand(t.Context(), 100*time.Millisecond)
	if took := time.Since(begun); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
	if err == nil || !strings.Contains(err.Error(), "command sh: no answer within 100ms") || fault.KindOf(err) != fault.Config {
		t.Errorf("error %v", err)
	}
}
