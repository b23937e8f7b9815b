package flink

import (
	"context"
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/figures"
	"github.com/recoverctl/recoverctl/internal/flinkmeta"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

func group[T int | int32 | int64](n T) string { return figures.Group(int64(n)) }

// entropyMarker is what a path holds where Flink spreads data files over an
// object store: data files have random characters in its place, metadata
// nothing.
const entropyMarker = "_entropy_"

func (b *builder) checkPlace() {
	if strings.Contains(b.from.uri, entropyMarker) {
		b.add("L5", inspect.SeverityWarning, "give the path without it",
			"the path contains the entropy marker %s; Flink stores _metadata without it", entropyMarker)
	}
}

// checkMoved tells that the snapshot lies elsewhere than where it was written.
// Streams inside the metadata are named as files in that folder.
func (b *builder) checkMoved(ctx context.Context) {
	for ref := range b.md.Streams() {
		if ref.Stream.Kind != flinkmeta.InlineStream || strings.Contains(ref.Stream.Path, entropyMarker) {
			continue
		}
		recorded, err := recordedLocation(ref.Stream.Path)
		if err != nil || !isSnapshotName(recorded.dir().base()) {
			continue
		}
		written := recorded.dir()
		at, _ := b.store.place(written)
		if at != b.from.dir.known() && !b.sameFolder(ctx, at) {
			b.add("M8", inspect.SeverityInfo, "Flink restores a copy where every file that it names by its whole path is still in its place",
				"it was written to %s and lies at %s: it was copied or moved, or is seen from another machine", written.show(), b.from.dir.show())
		}
		return
	}
}

// sameFolder reports whether a place is the snapshot's own folder under another
// name.
func (b *builder) sameFolder(ctx context.Context, at location) bool {
	if at.scheme != b.from.dir.scheme {
		return false
	}
	x, xErr := b.from.system.Canonical(ctx, at.name())
	y, yErr := b.from.system.Canonical(ctx, b.from.dir.name())
	return xErr == nil && yErr == nil && x == y
}

func (b *builder) checkMetadata() {
	p := b.md.Properties
	if n := b.from.number(); n >= 0 && n != b.md.CheckpointID {
		b.add("M8", inspect.SeverityWarning, "find out where this folder was copied from before you rely on its name",
			"the folder is chk-%d but the metadata says checkpoint %d: files were copied or renamed", n, b.md.CheckpointID)
	}
	format := ""
	if b.point.Format != "" {
		format = " in " + string(b.point.Format) + " format"
	}
	b.add("M9", inspect.SeverityInfo, "", "%s%s, checkpoint id %d, metadata version %d", b.point.Kind, format, b.md.CheckpointID, b.md.Version)
	if p.Unknown != "" && p.Kind == flinkmeta.KindUnknown {
		b.add("M9", inspect.SeverityWarning, "take the kind from where the folder lies",
			"the checkpoint properties could not be understood (%s): whether this is a checkpoint or a savepoint is taken from the folder's name", safetext.Of(p.Unknown))
	}
	switch {
	case p.Refused != "":
		b.add(inspect.CheckProperties, inspect.SeverityError, "use another recovery point, or copy this one again from its origin",
			"Flink does not read the checkpoint properties behind the last operator, and so not this file: %s", safetext.Of(p.Refused))
	case p.Unknown != "":
		b.add(inspect.CheckProperties, inspect.SeverityWarning, "if a newer Flink wrote it, ask that Flink; else copy it again from its origin",
			"whether Flink reads the checkpoint properties behind the last operator is not known (%s): if it does not, it restores nothing of this file", safetext.Of(p.Unknown))
	}
	if p.Behind > 0 {
		b.add(flinkmeta.CheckTail, inspect.SeverityWarning, "find out what wrote over this file or appended to it",
			"%s behind the checkpoint properties: Flink does not look at them", figures.Count(p.Behind, "byte", "bytes"))
	}
	seen := map[flinkmeta.OperatorID]int{}
	for _, o := range b.md.Operators {
		if seen[o.ID]++; seen[o.ID] == 2 {
			b.add("M10", inspect.SeverityError, "use another recovery point: no Flink writes this",
				"operator %s occurs twice", o.ID)
		}
	}
}

// checkVersions says which Flink wrote the snapshot, from what only some
// versions write.
func (b *builder) checkVersions() {
	by := map[int32]string{2: "1.3 to 1.10", 3: "1.11 to 1.15", 4: "1.16 to 1.20", 5: "2.0", 6: "2.1 to 2.3"}[b.md.Version]
	b.add("V1", inspect.SeverityInfo, "", "metadata version %d: written by Flink %s", b.md.Version, by)
	merged, changelog := false, false
	for ref := range b.md.Streams() {
		switch ref.Stream.Kind {
		case flinkmeta.SegmentStream, flinkmeta.EmptySegmentStream:
			merged = true
		}
		changelog = changelog || ref.Role == flinkmeta.RoleChangelog
	}
	for i := range b.md.Operators {
		for _, t := range b.md.Operators[i].Subtasks {
			if t.ManagedKeyed != nil && t.ManagedKeyed.Changelog != nil {
				changelog = true
			}
		}
	}
	if merged {
		b.add("V3", inspect.SeverityInfo, "", "state lies in merged files: written by Flink 1.20 or later with file merging on")
	}
	if changelog {
		b.add("V4", inspect.SeverityInfo, "", "keyed state has a changelog: the changelog backend was on")
	}
}

// checkSavepoint looks at what matters for moving a savepoint.
func (b *builder) checkSavepoint() {
	if b.point.Kind == inspect.KindSavepoint {
		outside, channels := int64(0), int64(0)
		first := ""
		for ref := range b.md.Streams() {
			switch ref.Stream.Kind {
			case flinkmeta.FileStream, flinkmeta.SegmentStream:
				if outside++; first == "" {
					first = ref.Stream.Path
				}
			}
			if ref.Role == flinkmeta.RoleInputChannel || ref.Role == flinkmeta.RoleResultSubpartition {
				channels++
			}
		}
		if outside > 0 {
			b.add("S1", inspect.SeverityWarning, "keep the files at their places, or take a canonical savepoint",
				"the savepoint is not self-contained: %s to files elsewhere, the first to %s. It can't be moved or copied on its own.",
				figures.Count(outside, "reference", "references"), safetext.Of(first))
		}
		if channels > 0 {
			b.add("S2", inspect.SeverityWarning, "it restores only into a job of the same shape",
				"the savepoint contains in-flight data of %s", figures.Count(channels, "channel", "channels"))
		}
	}
	name := b.from.dir.base()
	saysSavepoint, saysCheckpoint := strings.HasPrefix(name, savepointPrefix), checkpointNumber(name) >= 0
	known := b.md.Properties.Kind != flinkmeta.KindUnknown
	if known && (saysSavepoint && b.point.Kind == inspect.KindCheckpoint || saysCheckpoint && b.point.Kind == inspect.KindSavepoint) {
		b.add("S3", inspect.SeverityWarning, "find out where this folder was copied from before you rely on its name",
			"the folder is called %s and the metadata says that it is a %s", safetext.Of(name), b.point.Kind)
	}
}
