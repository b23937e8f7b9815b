package journal_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/journal"
)

var owner = journal.Owner{User: "ops", Host: "bastion", Since: march, Doing: "cleanup 3f9c21aa"}

func acquire(t *testing.T, state string) *journal.Lock {
	t.Helper()
	lock, err := journal.Acquire(state, "cluster/action-state", owner)
	if err != nil {
		t.Fatal(err)
	}
	return lock
}

func lockFile(t *testing.T, state string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(state, "locks", "*.lock"))
	if err != nil || len(files) != 1 {
		t.Fatalf("lock files %v, error %v", files, err)
	}
	return files[0]
}

func TestASecondApplyOfTheJobIsTurnedAway(t *testing.T) {
	state := t.TempDir()
	lock := acquire(t, state)
	_, err := journal.Acquire(state, "cluster/action-state", owner)
	if fault.KindOf(err) != fault.Busy {
		t.Fatalf("error %v (%s)", err, fault.KindOf(err))
	}
	for _, want := range []string{"ops@bastion", "cleanup 3f9c21aa", "2026-03-31T23:59:58Z"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %s", err, want)
		}
	}
	other, err := journal.Acquire(state, "cluster/other-topic", owner)
	if err != nil {
		t.Errorf("another job is locked too: %v", err)
	} else if err := other.Release(); err != nil {
		t.Error(err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	lock = acquire(t, state)
	if lock.Abandoned != nil {
		t.Errorf("a lock that was given back is said to be abandoned by %+v", lock.Abandoned)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

// The child takes the lock, says so and dies without a word.
func TestALockOfADeadProcessIsTakenOver(t *testing.T) {
	state := t.TempDir()
	if os.Getenv("LOCK_AND_DIE") != "" {
		if _, err := journal.Acquire(os.Getenv("LOCK_AND_DIE"), "cluster/action-state", owner); err != nil {
			t.Fatal(err)
		}
		os.Exit(3)
	}
	child := exec.Command(os.Args[0], "-test.run=^TestALockOfADeadProcessIsTakenOver$")
	child.Env = append(os.Environ(), "LOCK_AND_DIE="+state)
	if out, err := child.CombinedOutput(); child.ProcessState.ExitCode() != 3 {
		t.Fatalf("the child: %v\n%s", err, out)
	}
	lock := acquire(t, state)
	if lock.Abandoned == nil || lock.Abandoned.PID != child.Process.Pid || lock.Abandoned.Doing != owner.Doing {
		t.Errorf("abandoned by %+v, want process %d", lock.Abandoned, child.Process.Pid)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

// Without the kernel's lock the content alone speaks, as on a network file
// system where locks have no effect.
func TestTheContentNamesALiveProcess(t *testing.T) {
	state := t.TempDir()
	if err := acquire(t, state).Release(); err != nil {
		t.Fatal(err)
	}
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = sleeper.Process.Kill()
		_ = sleeper.Wait()
	}()
	write := func(o journal.Owner) {
		data, err := json.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(lockFile(t, state), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	live := owner
	live.PID = sleeper.Process.Pid
	write(live)
	if _, err := journal.Acquire(state, "cluster/action-state", owner); fault.KindOf(err) != fault.Busy {
		t.Errorf("the lock of a live process was taken: %v", err)
	}
	if _, err := os.Stat("/proc/self/stat"); err == nil {
		// The same pid, but another process: it began at another time.
		live.Started = "another boot/1"
		write(live)
		lock := acquire(t, state)
		if lock.Abandoned == nil || lock.Abandoned.PID != live.PID {
			t.Errorf("abandoned by %+v", lock.Abandoned)
		}
		if err := lock.Release(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(lockFile(t, state), []byte(`{"user":"o`), 0o600); err != nil {
		t.Fatal(err)
	}
	lock := acquire(t, state)
	if lock.Abandoned == nil {
		t.Error("a half-written owner is taken for none")
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

// A process that was killed and that nobody waits for answers signals for ever, as in a
// container: its lock is taken over all the same.
func TestALockOfAProcessThatNobodyWaitsForIsTakenOver(t *testing.T) {
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Log("this system does not tell how a process is")
		return
	}
	state := t.TempDir()
	if err := acquire(t, state).Release(); err != nil {
		t.Fatal(err)
	}
	sleeper := exec.Command("sleep", "60")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	dead := owner
	dead.PID = sleeper.Process.Pid
	data, err := json.Marshal(dead)
	if err == nil {
		err = os.WriteFile(lockFile(t, state), data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Acquire(state, "cluster/action-state", owner); fault.KindOf(err) != fault.Busy {
		t.Errorf("while it lives: %v", err)
	}
	if err := sleeper.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sleeper.Wait() }() // after all else
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		lock, err := journal.Acquire(state, "cluster/action-state", owner)
		if err == nil {
			if lock.Abandoned == nil || lock.Abandoned.PID != dead.PID {
				t.Errorf("abandoned by %+v", lock.Abandoned)
			}
			if err := lock.Release(); err != nil {
				t.Fatal(err)
			}
			return
		}
		time.Sleep(10 * time.Millisecond) // the kernel ends it when it comes to it
	}
	t.Error("a process that has ended holds the lock for ever")
}

func TestAFolderThatCantHoldLocks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := journal.Acquire(file, "k", owner); fault.KindOf(err) != fault.Config || fault.Of(err).Hint == "" {
		t.Errorf("error %v", err)
	}
}

func TestTheOwnersTimeIsKept(t *testing.T) {
	state := t.TempDir()
	lock := acquire(t, state)
	data, err := os.ReadFile(lockFile(t, state))
	if err != nil {
		t.Fatal(err)
	}
	var o journal.Owner
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatal(err)
	}
	if o.PID != os.Getpid() || o.Key != "cluster/action-state" || !o.Since.Equal(march) || time.Since(o.Since) == 0 {
		t.Errorf("owner %+v", o)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}
