package flink

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

// Found is a recovery point of which nothing but its folder was looked at.
type Found struct {
	URI      string // in the form of the place where it was looked for
	Kind     inspect.PointKind
	Modified time.Time // of its metadata file
}

// Nearby lists the completed recovery points at or under uri, newest by their
// file's date first, for somebody who is typing: no file is opened, and a place
// that is not on this machine has none, so that nobody waits for a network. What
// can't be looked at is left out; a search that ctx ends returns what was found.
func (s *Store) Nearby(ctx context.Context, uri string) []Found {
	recorded, err := parseLocation(uri)
	if err != nil {
		return nil
	}
	at := recorded
	if _, _, hasScheme := cutScheme(uri); hasScheme {
		at, _ = s.place(recorded)
	}
	if at.scheme != schemeFile {
		return nil
	}
	system := s.systems[schemeFile]
	entry, err := system.Stat(ctx, at.name())
	if err != nil || !entry.Dir {
		return nil
	}
	f := finder{store: s, system: system, seen: map[string]bool{}}
	f.visit(ctx, uri, at, entry, 0)
	found := make([]Found, 0, len(f.found))
	for _, c := range f.found {
		if c.complete {
			found = append(found, Found{URI: c.uri, Kind: c.kind(), Modified: c.entry.Modified})
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int {
		return cmp.Or(b.Modified.Compare(a.Modified), cmp.Compare(checkpointNumber(baseOf(b.URI)), checkpointNumber(baseOf(a.URI))))
	})
	return found
}

func baseOf(uri string) string {
	l, err := parseLocation(uri)
	if err != nil {
		return ""
	}
	return l.base()
}
