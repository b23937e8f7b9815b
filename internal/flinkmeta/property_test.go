package flinkmeta_test

import (
	"bytes"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/recoverctl/recoverctl/internal/flinkmeta"
)

// Whatever can be encoded is decoded to the same value, and encoded again to
// the same bytes.
func TestEncodeAndDecodeAreInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawMetadata(t)
		data, err := flinkmeta.Encode(want)
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		got, err := flinkmeta.Decode(data)
		if err != nil {
			t.Fatalf("decode: %v", err)
		}
		again, err := flinkmeta.Encode(got)
		if err != nil || !bytes.Equal(again, data) {
			t.Fatalf("the second encoding differs (%v)", err)
		}
		forgetPositions(got)
		got.Properties.Raw, got.Properties.Null = nil, false
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("decoded\n%+v\nwant\n%+v", got, want)
		}
	})
}

func drawMetadata(t *rapid.T) *flinkmeta.Metadata {
	g := draw{T: t, version: rapid.Int32Range(flinkmeta.MinVersion, flinkmeta.MaxVersion).Draw(t, "version")}
	m := &flinkmeta.Metadata{Version: g.version, CheckpointID: g.size(0)}
	m.MasterStates = some(g, func() flinkmeta.MasterState {
		return flinkmeta.MasterState{Version: g.i32(), Name: g.text(), Payload: g.bytes()}
	})
	m.Operators = some(g, g.operator)
	if g.version >= 4 {
		m.Properties = rapid.SampledFrom([]flinkmeta.Properties{
			{}, flinkmeta.CheckpointProperties(), flinkmeta.SavepointProperties(flinkmeta.FormatCanonical), flinkmeta.SavepointProperties(flinkmeta.FormatNative),
		}).Draw(t, "properties")
	}
	return m
}

// draw makes parts that the metadata version can hold.
type draw struct {
	*rapid.T
	version int32
}

func some[T any](g draw, one func() T) []T {
	var out []T
	for range rapid.IntRange(0, 3).Draw(g.T, "count") {
		out = append(out, one())
	}
	return out
}

func (g draw) bool() bool { return rapid.Bool().Draw(g.T, "bool") }
func (g draw) i32() int32 { return rapid.Int32().Draw(g.T, "i32") }
func (g draw) i64() int64 { return rapid.Int64().Draw(g.T, "i64") }
func (g draw) size(least int64) int64 {
	return rapid.Int64Range(least, math.MaxInt64).Draw(g.T, "size")
}
func (g draw) text() string  { return rapid.StringN(0, 12, -1).Draw(g.T, "text") }
func (g draw) i64s() []int64 { return some(g, g.i64) }

func (g draw) bytes() []byte {
	return append([]byte{}, rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(g.T, "bytes")...)
}

func (g draw) operator() flinkmeta.Operator {
	o := flinkmeta.Operator{Parallelism: g.i32(), MaxParallelism: g.i32(), FullyFinished: g.bool()}
	copy(o.ID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(g.T, "id"))
	if g.version >= 5 {
		o.Name, o.UID = g.text(), g.text()
	}
	if g.version == 2 {
		o.ChainLength = g.i32()
	} else if g.bool() {
		o.Coordinator = g.inline()
	}
	if !o.FullyFinished {
		o.Subtasks = some(g, g.subtask)
		if o.Subtasks == nil {
			o.Subtasks = []flinkmeta.Subtask{}
		}
	}
	return o
}

func (g draw) subtask() flinkmeta.Subtask {
	s := flinkmeta.Subtask{Index: rapid.Int32Range(0, math.MaxInt32-1).Draw(g.T, "index")}
	if g.version >= 3 && g.bool() {
		s.Finished = true
		return s
	}
	if g.version == 2 {
		s.Duration = g.i64()
	} else {
		s.InputChannels = some(g, func() flinkmeta.ChannelState { return g.channel(flinkmeta.InputChannel, flinkmeta.MergedInputChannels) })
		s.ResultSubpartitions = some(g, func() flinkmeta.ChannelState {
			return g.channel(flinkmeta.ResultSubpartition, flinkmeta.MergedResultSubpartitions)
		})
	}
	s.ManagedOperator, s.RawOperator = g.operatorState(), g.operatorState()
	s.ManagedKeyed, s.RawKeyed = g.keyed(0, allKinds), g.keyed(0, allKinds)
	return s
}

func (g draw) operatorState() *flinkmeta.OperatorState {
	if g.bool() {
		return nil
	}
	o := &flinkmeta.OperatorState{Stream: g.stream(0)}
	o.States = some(g, func() flinkmeta.StateOffsets {
		return flinkmeta.StateOffsets{Name: g.text(), Mode: flinkmeta.Mode(rapid.IntRange(0, 2).Draw(g.T, "mode")), Offsets: g.i64s()}
	})
	if g.bool() {
		o.Merged = &flinkmeta.MergedFiles{TaskOwnedDir: g.text(), SharedDir: g.text(), Empty: g.bool()}
	}
	return o
}

func (g draw) inline() *flinkmeta.Stream {
	s := &flinkmeta.Stream{Kind: flinkmeta.InlineStream, Path: g.text(), Data: g.bytes()}
	s.Size = int64(len(s.Data))
	return s
}

func (g draw) span() (flinkmeta.KeyGroupRange, []int64) {
	offsets := g.i64s()
	return flinkmeta.KeyGroupRange{Start: rapid.Int32Range(0, 127).Draw(g.T, "start"), Count: int32(len(offsets))}, offsets
}

func (g draw) stream(depth int) *flinkmeta.Stream {
	kinds := []flinkmeta.StreamKind{0, 1, 2, 6, 15, 16}
	if depth < 3 {
		kinds = append(kinds, flinkmeta.KeyGroupsStream)
	}
	s := &flinkmeta.Stream{Kind: rapid.SampledFrom(kinds).Draw(g.T, "stream")}
	switch s.Kind {
	case flinkmeta.InlineStream:
		return g.inline()
	case flinkmeta.FileStream, flinkmeta.RelativeStream:
		s.Path, s.Size = g.text(), g.size(-1)
	case flinkmeta.SegmentStream:
		s.Path, s.Size = g.text(), g.size(0)
		s.Segment = &flinkmeta.Segment{Start: g.size(0), Scope: rapid.Int32Range(0, 1).Draw(g.T, "scope"), LogicalFileID: g.text()}
	case flinkmeta.EmptySegmentStream:
	case flinkmeta.KeyGroupsStream:
		s.KeyGroups = &flinkmeta.KeyGroupStream{Inner: g.stream(depth + 1)}
		s.KeyGroups.Range, s.KeyGroups.Offsets = g.span()
	default:
		return nil
	}
	return s
}

var (
	allKinds    = []flinkmeta.KeyedKind{0, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14}
	flatKinds   = []flinkmeta.KeyedKind{0, 3, 5, 7, 9, 10, 11, 12, 13}
	changeKinds = []flinkmeta.KeyedKind{0, 9, 10, 13}
)

func (g draw) keyed(depth int, kinds []flinkmeta.KeyedKind) *flinkmeta.KeyedState {
	k := &flinkmeta.KeyedState{Kind: rapid.SampledFrom(kinds).Draw(g.T, "keyed")}
	if k.Kind == 0 {
		return nil
	}
	var offsets []int64
	k.Range, offsets = g.span()
	switch k.Kind {
	case flinkmeta.KeyGroupsV1, flinkmeta.KeyGroupsSavepoint, flinkmeta.IncrementalV1:
	default:
		k.HandleID = g.text()
	}
	switch k.Kind {
	case flinkmeta.KeyGroupsV1, flinkmeta.KeyGroupsV2, flinkmeta.KeyGroupsSavepoint:
		k.KeyGroups = &flinkmeta.KeyGroups{Offsets: offsets, Stream: g.stream(0)}
	case flinkmeta.IncrementalV1, flinkmeta.IncrementalV2:
		file := func() flinkmeta.NamedStream { return flinkmeta.NamedStream{Name: g.text(), Stream: g.stream(0)} }
		k.Incremental = &flinkmeta.IncrementalKeys{
			CheckpointID: g.i64(), BackendID: g.text(), CheckpointedSize: -1,
			Meta: g.stream(0), Shared: some(g, file), Private: some(g, file),
		}
		if k.Kind == flinkmeta.IncrementalV2 {
			k.Incremental.CheckpointedSize = g.size(-1)
		}
	case flinkmeta.ChangelogV1, flinkmeta.ChangelogV2:
		materialized := flatKinds
		if depth < 2 {
			materialized = allKinds
		}
		k.Changelog = &flinkmeta.Changelog{
			CheckpointedSize:  g.size(-1),
			Materialized:      some(g, func() *flinkmeta.KeyedState { return g.keyed(depth+1, materialized) }),
			Changes:           some(g, func() *flinkmeta.KeyedState { return g.keyed(depth+1, changeKinds) }),
			MaterializationID: g.i64(),
		}
		if k.Kind == flinkmeta.ChangelogV2 {
			k.Changelog.CheckpointID = g.i64()
		}
	case flinkmeta.InMemoryChanges:
		k.InMemory = &flinkmeta.MemoryChanges{From: g.i64(), To: g.i64(), Changes: some(g, func() flinkmeta.Change {
			return flinkmeta.Change{KeyGroup: g.i32(), Data: g.bytes()}
		})}
	default:
		k.File = &flinkmeta.FileChanges{Size: g.size(-1), CheckpointedSize: g.size(-1), Parts: some(g, func() flinkmeta.ChangesPart {
			return flinkmeta.ChangesPart{Offset: g.size(0), Stream: g.stream(0)}
		})}
		if k.Kind == flinkmeta.FileChangesV2 {
			k.File.StorageID = g.text()
		}
	}
	return k
}

func (g draw) channel(single, merged flinkmeta.ChannelKind) flinkmeta.ChannelState {
	c := flinkmeta.ChannelState{Kind: single, SubtaskIndex: g.i32(), Size: g.size(0), Stream: g.stream(0)}
	if g.version >= 6 && g.bool() {
		c.Kind, c.MergedInfo = merged, g.bytes()
		return c
	}
	c.First, c.Second, c.Offsets = g.i32(), g.i32(), g.i64s()
	return c
}

// Elements of any size and number come back as they were, from plain and from
// compressed streams.
func TestBuiltStreamsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := flinkmeta.NewOperatorStreamBuilder(6, rapid.Bool().Draw(t, "compressed"))
		want := map[string][][]byte{}
		for _, name := range rapid.SliceOfNDistinct(rapid.StringN(0, 8, -1), 0, 4, rapid.ID).Draw(t, "names") {
			element := rapid.Custom(func(t *rapid.T) []byte {
				part := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "part")
				return bytes.Repeat(part, rapid.SampledFrom([]int{1, 2, 4000}).Draw(t, "repeat"))
			})
			want[name] = rapid.SliceOfN(element, 0, 4).Draw(t, "elements")
			b.Add(flinkmeta.ListState(name, flinkmeta.Union, flinkmeta.StringSerializer()), want[name]...)
		}
		data, states, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		s, err := flinkmeta.OpenOperatorStream(data, &flinkmeta.OperatorState{States: states})
		if err != nil {
			t.Fatal(err)
		}
		for name, elements := range want {
			if s.Len(name) != len(elements) {
				t.Fatalf("%q has %d elements, want %d", name, s.Len(name), len(elements))
			}
			for i, e := range elements {
				if got, err := s.Element(name, i); err != nil || !bytes.Equal(got, e) {
					t.Fatalf("%q element %d differs (%v)", name, i, err)
				}
			}
		}
	})
}

func TestSavepointPropertiesNameTheirFormat(t *testing.T) {
	for _, format := range []string{flinkmeta.FormatCanonical, flinkmeta.FormatNative} {
		data, err := flinkmeta.Encode(&flinkmeta.Metadata{Version: 5, Properties: flinkmeta.SavepointProperties(format)})
		if err != nil {
			t.Fatal(err)
		}
		m, err := flinkmeta.Decode(data)
		if err != nil || m.Properties.Kind != flinkmeta.KindSavepoint || m.Properties.Format != format || !strings.Contains(string(data), format) {
			t.Errorf("%s: %+v, %v", format, m, err)
		}
	}
}
