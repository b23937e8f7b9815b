package journal

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// Filter chooses entries; the zero Filter chooses all.
type Filter struct {
	Plan    string // the beginning of a plan id
	Run     string
	Profile string
	Job     string
	Since   time.Time // this time and later
	Until   time.Time // before this time
	Last    int       // only so many, the newest; 0: all
}

func (f Filter) takes(e Entry) bool {
	return strings.HasPrefix(e.PlanID, f.Plan) &&
		(f.Run == "" || e.Run == f.Run) &&
		(f.Profile == "" || e.Profile == f.Profile) &&
		(f.Job == "" || e.Job == f.Job) &&
		(f.Since.IsZero() || !e.Time.Before(f.Since)) &&
		(f.Until.IsZero() || e.Time.Before(f.Until))
}

// Damage is a line that is no entry. Torn: it is the last of its file and has no
// newline, the usual trace of a crash while it was written.
type Damage struct {
	File string `json:"file"`
	Line int    `json:"line"` // counted from 1
	Torn bool   `json:"torn"`
	Why  string `json:"why"`
}

// Read returns the entries that the filter takes, oldest first, and every line
// that could not be read, whatever the filter says. A folder that is not there
// holds nothing. The error says which file could not be read, beside the others.
func (j *Journal) Read(filter Filter) ([]Entry, []Damage, error) {
	entries, damage := []Entry{}, []Damage{}
	files, err := j.files()
	if err != nil {
		return entries, damage, err
	}
	var errs []error
	for _, name := range files {
		if err := readFile(filepath.Join(j.dir, name), func(e Entry) {
			if filter.takes(e) {
				entries = append(entries, e)
			}
		}, func(d Damage) {
			d.File = safetext.Of(name).String()
			damage = append(damage, d)
		}); err != nil {
			errs = append(errs, err)
		}
	}
	if filter.Last > 0 && len(entries) > filter.Last {
		entries = slices.Clone(entries[len(entries)-filter.Last:])
	}
	return entries, damage, errors.Join(errs...)
}

// files are the names of the months, oldest first.
func (j *Journal) files() ([]string, error) {
	all, err := os.ReadDir(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unreadable(j.dir, err)
	}
	var names []string
	for _, f := range all {
		if f.Type().IsRegular() && strings.HasSuffix(f.Name(), suffix) {
			names = append(names, f.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}

func unreadable(path string, err error) error {
	name := safetext.Of(path)
	return fault.Wrap(fault.Config, "read the journal", err, "%s can't be read", name).
		WithHint("check who may read it").WithRef("file " + name.String())
}

func readFile(path string, entry func(Entry), damaged func(Damage)) error {
	file, err := os.Open(path)
	if err != nil {
		return unreadable(path, err)
	}
	defer file.Close()
	if err := readLines(file, entry, damaged); err != nil {
		return unreadable(path, err)
	}
	return nil
}

// readLines reads lines of any length within bounded memory.
func readLines(from io.Reader, entry func(Entry), damaged func(Damage)) error {
	r := bufio.NewReaderSize(from, maxLine+2)
	for n := 1; ; n++ {
		line, err := r.ReadSlice('\n')
		tooLong := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		ended := err == nil
		switch line = bytes.TrimSuffix(line, []byte("\n")); {
		case tooLong:
			damaged(Damage{Line: n, Torn: !ended, Why: "the line is too long"})
		case len(line) == 0:
		default:
			e, bad := parseLine(line)
			switch {
			case bad != nil:
				damaged(Damage{Line: n, Torn: !ended, Why: bad.Error()})
			case !ended:
				damaged(Damage{Line: n, Torn: true, Why: "the line has no end: it may not be whole"})
			default:
				entry(e)
			}
		}
		if !ended {
			return nil
		}
	}
}

// OpenIntents are those without an outcome of the same run and step, in the
// order of the entries: traces of crashes, or of runs that are going on.
func OpenIntents(entries []Entry) []Entry {
	var open []Entry
	for _, e := range entries {
		switch e.Event {
		case Intent:
			open = append(open, e)
		case Outcome:
			open = slices.DeleteFunc(open, func(i Entry) bool { return i.Run == e.Run && i.Step == e.Step })
		}
	}
	return open
}
