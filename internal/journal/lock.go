package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Owner is who holds a lock. Started is when the process began, in a form that
// only the same machine understands: together with the pid it names one process,
// where a pid alone may be that of another one by now.
type Owner struct {
	User    string    `json:"user"`
	Host    string    `json:"host"`
	PID     int       `json:"pid"`
	Started string    `json:"started"`
	Since   time.Time `json:"since"`
	Key     string    `json:"key"`
	Doing   string    `json:"doing"` // as in "cleanup 3f9c21aa"
}

// Lock is a held lock.
type Lock struct {
	file *os.File
	path string

	// Abandoned is the owner before, where it ended without giving the lock back:
	// a crash. Nil where it did.
	Abandoned *Owner
}

const lockOp = "take the lock"

// Acquire takes the lock of a job, below the state folder. Key says what is
// locked and is the same for all who would change it, as in the cluster's id and
// the topic. The error is a fault of kind Busy that says who holds it.
//
// The lock is one of the kernel's on the file, which ends with its owner however
// that ends; the file's content says who it is. Where the kernel's lock is of no
// effect (some network file systems), a content that names a live process of
// this host is still respected.
func Acquire(stateDir, key string, owner Owner) (*Lock, error) {
	dir := filepath.Join(stateDir, "locks")
	if err := privateDir(dir); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(key))
	path := filepath.Join(dir, hex.EncodeToString(sum[:8])+".lock")
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, unlockable(path, err)
	}
	lock, err := acquire(file, path, key, owner)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return lock, nil
}

func acquire(file *os.File, path, key string, owner Owner) (*Lock, error) {
	err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	before, readErr := readOwner(file)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, busy(path, before)
	case err != nil:
		return nil, unlockable(path, err)
	case readErr != nil:
		return nil, unlockable(path, readErr)
	case before != nil && before.Host == owner.Host && before.PID != os.Getpid() && before.alive():
		return nil, busy(path, before)
	}
	owner.PID, owner.Started, owner.Key = os.Getpid(), started(os.Getpid()), key
	if err := writeOwner(file, &owner); err != nil {
		return nil, unlockable(path, err)
	}
	return &Lock{file: file, path: path, Abandoned: before}, nil
}

// Release gives the lock back.
func (l *Lock) Release() error {
	err := errors.Join(writeOwner(l.file, nil), l.file.Close())
	if err != nil {
		return unlockable(l.path, err)
	}
	return nil
}

// alive reports whether the process that took the lock still runs: there is one
// of that pid, which has not ended, and it began when the owner did. Where a start
// can't be read, the pid decides.
func (o Owner) alive() bool {
	if o.PID <= 0 {
		return false
	}
	err := syscall.Kill(o.PID, 0)
	if err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	if ended(o.PID) {
		return false
	}
	now := started(o.PID)
	return now == "" || o.Started == "" || now == o.Started
}

// maxOwner bounds the content of a lock file.
const maxOwner = 16 << 10

// readOwner reads the content: nil for an empty file, and for one that a crash
// left half-written, of which nobody is known.
func readOwner(file *os.File) (*Owner, error) {
	data, err := io.ReadAll(io.NewSectionReader(file, 0, maxOwner))
	if err != nil || len(data) == 0 {
		return nil, err
	}
	var o Owner
	if json.Unmarshal(data, &o) != nil {
		return &Owner{}, nil
	}
	return &o, nil
}

// writeOwner replaces the content. The file keeps its name and its identity:
// both are what the lock hangs on.
func writeOwner(file *os.File, owner *Owner) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	if owner == nil {
		return nil
	}
	data, err := json.Marshal(owner)
	if err != nil {
		return err
	}
	if _, err := file.WriteAt(data, 0); err != nil {
		return err
	}
	return file.Sync()
}

func busy(path string, owner *Owner) error {
	name := safetext.Of(path)
	f := fault.New(fault.Busy, lockOp, "something else is being applied to this job").WithRef("file " + name.String())
	if owner != nil && owner.PID > 0 {
		f.Message = safetext.Sprintf("%s@%s applies %s to this job, as process %d since %s",
			owner.User, owner.Host, owner.Doing, owner.PID, owner.Since.UTC().Format(time.RFC3339)).String()
	}
	return f.WithHint("wait until it has ended, or look at what it does with: recoverctl journal list")
}

func unlockable(path string, err error) error {
	name := safetext.Of(path)
	return fault.Wrap(fault.Config, lockOp, err, "%s can't be used as a lock", name).
		WithHint("set XDG_STATE_HOME to a folder on a local disk").WithRef("file " + name.String())
}
