package journal

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/atomicfile"
	"github.com/recoverctl/recoverctl/internal/clock"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const (
	dirMode  = 0o700
	fileMode = 0o600
)

// StateDir is where this program keeps its state: $XDG_STATE_HOME/recoverctl,
// else ~/.local/state/recoverctl. A relative XDG_STATE_HOME is ignored, as the
// XDG specification says. The error is a fault of kind Config where neither is
// known.
func StateDir(getenv func(string) string) (string, error) {
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "recoverctl"), nil
	}
	if home := getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "recoverctl"), nil
	}
	return "", fault.New(fault.Config, "find the state folder", "there is no place for the journal: neither XDG_STATE_HOME nor HOME is an absolute path").
		WithHint("set XDG_STATE_HOME to a folder that survives this session")
}

// Journal appends to and reads the files of one folder. It keeps nothing open;
// several processes may append at once.
type Journal struct {
	dir   string
	clock clock.Clock
}

// Open makes the folder "journal" below the state folder where there is none,
// and makes it private.
func Open(stateDir string, c clock.Clock) (*Journal, error) {
	dir := filepath.Join(stateDir, "journal")
	if err := privateDir(dir); err != nil {
		return nil, err
	}
	return &Journal{dir: dir, clock: c}, nil
}

// At is a journal for reading only: nothing is made.
func At(stateDir string) *Journal {
	return &Journal{dir: filepath.Join(stateDir, "journal"), clock: clock.System{}}
}

// Dir is the folder of the files.
func (j *Journal) Dir() string { return j.dir }

// Append writes the entry with the time of now and returns it as it was written.
// When it returns without an error, the line is on the disk.
func (j *Journal) Append(e Entry) (Entry, error) {
	e.Time = j.clock.Now().UTC()
	e = e.safe()
	line, err := json.Marshal(e)
	if err != nil {
		return e, fault.Wrap(fault.Bug, "write the journal", err, "the entry can't be written")
	}
	if len(line) > maxLine {
		return e, fault.New(fault.Bug, "write the journal", "the entry has %d bytes, more than a line may have", len(line))
	}
	name, err := j.current(e.Time)
	if err != nil {
		return e, err
	}
	return e, atomicfile.AppendLine(filepath.Join(j.dir, name), line)
}

// current is the file that a line of now belongs into: that of its month, or the newest
// that is there. Where a clock went back over the end of a month, as where one machine
// was wrong or two share a folder, the lines stay in the order in which they were
// written: a later one settles an earlier one, never the other way round.
func (j *Journal) current(now time.Time) (string, error) {
	const month = "2006-01"
	name := now.Format(month) + suffix
	files, err := j.files()
	for _, f := range files {
		if _, bad := time.Parse(month, strings.TrimSuffix(f, suffix)); bad == nil {
			name = max(name, f)
		}
	}
	return name, err
}

const suffix = ".jsonl"

func privateDir(dir string) error {
	failed := func(err error) error {
		name := safetext.Of(dir)
		return fault.Wrap(fault.Config, "make the state folder", err, "%s can't be used", name).
			WithHint("set XDG_STATE_HOME to a folder that this user can write to").WithRef("folder " + name.String())
	}
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return failed(err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return failed(err)
	}
	if info.Mode().Perm() != dirMode {
		if err := os.Chmod(dir, dirMode); err != nil {
			return failed(err)
		}
	}
	return nil
}
