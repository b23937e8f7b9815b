package flinkmeta

// stream reads a stream handle. Null is nil.
func (d *decoder) stream(depth int) *Stream {
	if d.tooDeep(depth) {
		return nil
	}
	pos := d.Pos()
	tag := d.U8("stream handle tag")
	if !d.OK() || tag == 0 {
		return nil
	}
	if StreamKind(tag) == EmptySegmentStream {
		if d.empty == nil {
			d.empty = &Stream{Kind: EmptySegmentStream}
		}
		return d.empty
	}
	s := &Stream{Kind: StreamKind(tag), Pos: pos}
	switch s.Kind {
	case InlineStream:
		s.Path = d.UTF("handle name")
		d.inline(s)
	case FileStream:
		s.Size = d.size("file size")
		s.Path = d.UTF("file path")
	case RelativeStream:
		s.Path = d.UTF("relative path")
		s.Size = d.size("file size")
	case SegmentStream:
		s.Segment = &Segment{Start: d.notNegative("segment start")}
		s.Size = d.notNegative("segment size")
		s.Segment.Scope = d.scope()
		s.Path = d.name("file path")
		s.Segment.LogicalFileID = d.UTF("logical file id")
	case KeyGroupsStream:
		g := &KeyGroupStream{}
		g.Range, g.Offsets = d.keyGroupOffsets()
		g.Inner = d.stream(depth + 1)
		s.KeyGroups = g
	default:
		d.unknownTag(pos, "stream handle", tag)
	}
	return s
}

// inline reads the bytes of an inline handle, or where they are.
func (d *decoder) inline(s *Stream) {
	const what = "inline bytes"
	n := d.Count(1, what)
	s.DataPos, s.Size = d.Pos(), int64(n)
	if d.src != nil && n > InlineKept {
		d.Skip(n, what)
		return
	}
	s.Data = d.keep(d.Take(n, what))
}

// size reads the size of a file, where −1 means that it is not known.
func (d *decoder) size(what string) int64 {
	pos := d.Pos()
	n := d.I64(what)
	if n < UnknownSize {
		d.impossible(pos, what, n)
	}
	return n
}

// written is a checkpointed size, which Flink only counts with: it restores
// whatever stands there.
func (d *decoder) written() int64 { return max(d.I64("checkpointed size"), UnknownSize) }

func (d *decoder) notNegative(what string) int64 {
	pos := d.Pos()
	n := d.I64(what)
	if n < 0 {
		d.impossible(pos, what, n)
	}
	return n
}

func (d *decoder) scope() int32 {
	pos := d.Pos()
	n := d.I32("segment scope")
	if n < 0 || n > 1 {
		d.corrupt(pos, "segment scope", "it is neither 0 nor 1")
	}
	return n
}

// operatorHandle reads an operator state handle. Null is nil.
func (d *decoder) operatorHandle() *OperatorState {
	const partitionable, merged = 4, 17
	pos := d.Pos()
	tag := d.U8("tag")
	if !d.OK() || tag == 0 {
		return nil
	}
	if tag != partitionable && tag != merged {
		d.unknownTag(pos, "operator state handle", tag)
		return nil
	}
	o := &OperatorState{Pos: pos}
	o.States = list(d, 7, "number of states", (*decoder).stateOffsets)
	if tag == merged {
		o.Merged = &MergedFiles{
			TaskOwnedDir: d.name("task-owned directory"),
			SharedDir:    d.name("shared directory"),
			Empty:        d.Bool("empty flag"),
		}
	}
	o.Stream = d.stream(0)
	return o
}

func (d *decoder) stateOffsets() StateOffsets {
	s := StateOffsets{Name: d.name("state name")}
	pos := d.Pos()
	s.Mode = Mode(d.U8("distribution mode"))
	if s.Mode > Broadcast {
		d.corrupt(pos, "distribution mode", s.Mode.String()+" does not exist")
	}
	s.Offsets = d.I64s(d.Count(8, "number of offsets"), "offsets")
	return s
}

func (d *decoder) keyGroupRange(minSize int) KeyGroupRange {
	pos := d.Pos()
	r := KeyGroupRange{Start: d.I32("first key group"), Count: d.I32("number of key groups")}
	if r.Count < 0 || r.Count > MaxParallelism || int64(r.Count)*int64(minSize) > int64(d.Len()) {
		d.impossible(pos+4, "number of key groups", int64(r.Count))
	}
	if r.Start < 0 || r.Start > MaxParallelism {
		d.impossible(pos, "first key group", int64(r.Start))
	}
	return r
}

func (d *decoder) keyGroupOffsets() (KeyGroupRange, []int64) {
	r := d.keyGroupRange(8)
	if !d.OK() {
		return r, nil
	}
	return r, d.I64s(int(r.Count), "key group offsets")
}

// keyed reads a keyed state handle. None is nil.
func (d *decoder) keyed(depth int) *KeyedState {
	if d.tooDeep(depth) {
		return nil
	}
	pos := d.Pos()
	tag := d.U8("tag")
	if !d.OK() || tag == 0 {
		return nil
	}
	k := &KeyedState{Kind: KeyedKind(tag), Pos: pos}
	switch k.Kind {
	case KeyGroupsV1, KeyGroupsV2, KeyGroupsSavepoint:
		k.KeyGroups = &KeyGroups{}
		k.Range, k.KeyGroups.Offsets = d.keyGroupOffsets()
		k.KeyGroups.Stream = d.stream(0)
	case IncrementalV1, IncrementalV2:
		k.Incremental = d.incremental(k)
	case ChangelogV1, ChangelogV2:
		k.Changelog = d.changelog(k, depth)
	case InMemoryChanges:
		k.Range = d.keyGroupRange(0)
		k.InMemory = &MemoryChanges{From: d.I64("first sequence number"), To: d.I64("last sequence number")}
		k.InMemory.Changes = list(d, 8, "number of changes", (*decoder).change)
	case FileChangesV1, FileChangesV2:
		k.Range = d.keyGroupRange(0)
		k.File = &FileChanges{
			Parts:            list(d, 9, "number of changelog parts", (*decoder).changesPart),
			Size:             d.size("state size"),
			CheckpointedSize: d.written(),
		}
	default:
		d.unknownTag(pos, "keyed state handle", tag)
	}
	if k.hasHandleID() {
		k.HandleID = d.UTF("state handle id")
	}
	if k.Kind == FileChangesV2 {
		k.File.StorageID = d.name("storage identifier")
	}
	return k
}

// hasHandleID says whether the layout of the kind ends with a handle id.
func (k *KeyedState) hasHandleID() bool {
	switch k.Kind {
	case KeyGroupsV1, KeyGroupsSavepoint, IncrementalV1:
		return false
	default:
		return true
	}
}

func (d *decoder) incremental(k *KeyedState) *IncrementalKeys {
	in := &IncrementalKeys{CheckpointID: d.I64("checkpoint id"), BackendID: d.UTF("backend id")}
	k.Range = d.keyGroupRange(0)
	in.CheckpointedSize = UnknownSize
	if k.Kind == IncrementalV2 {
		in.CheckpointedSize = d.written()
	}
	in.Meta = d.stream(0)
	in.Shared = list(d, 3, "number of shared files", (*decoder).namedStream)
	in.Private = list(d, 3, "number of private files", (*decoder).namedStream)
	return in
}

func (d *decoder) namedStream() NamedStream {
	return NamedStream{Name: d.name("local file name"), Stream: d.stream(0)}
}

func (d *decoder) changelog(k *KeyedState, depth int) *Changelog {
	k.Range = d.keyGroupRange(0)
	c := &Changelog{CheckpointedSize: d.written()}
	c.Materialized = list(d, 1, "number of materialized handles", func(d *decoder) *KeyedState {
		return d.keyed(depth + 1)
	})
	c.Changes = list(d, 1, "number of changelog handles", func(d *decoder) *KeyedState {
		pos := d.Pos()
		part := d.keyed(depth + 1)
		if part != nil && part.InMemory == nil && part.File == nil {
			d.unknownTag(pos, "changelog part", uint8(part.Kind))
		}
		return part
	})
	c.MaterializationID = d.I64("materialization id")
	if k.Kind == ChangelogV2 {
		c.CheckpointID = d.I64("checkpoint id")
	}
	return c
}

func (d *decoder) change() Change {
	return Change{KeyGroup: d.I32("key group of a change"), Data: d.keep(d.Bytes32("a change"))}
}

func (d *decoder) changesPart() ChangesPart {
	return ChangesPart{Offset: d.notNegative("offset of a changelog part"), Stream: d.stream(0)}
}

func (d *decoder) inputChannel() ChannelState {
	return d.channel(InputChannel, MergedInputChannels)
}

func (d *decoder) resultSubpartition() ChannelState {
	return d.channel(ResultSubpartition, MergedResultSubpartitions)
}

func (d *decoder) channel(single, merged ChannelKind) ChannelState {
	c := ChannelState{Kind: single, Pos: d.Pos()}
	if d.version >= 6 {
		c.Kind = ChannelKind(d.U8("tag"))
		if d.OK() && c.Kind != single && c.Kind != merged {
			d.unknownTag(c.Pos, "channel state handle", uint8(c.Kind))
		}
	}
	c.SubtaskIndex = d.I32("subtask index")
	if c.Kind == merged {
		c.Size = d.notNegative("size")
		c.Stream = d.stream(0)
		c.MergedInfo = d.keep(d.Bytes32("channel list"))
		return c
	}
	c.First = d.I32("first index")
	c.Second = d.I32("second index")
	c.Offsets = d.I64s(d.Count(8, "number of offsets"), "offsets")
	c.Size = d.notNegative("size")
	c.Stream = d.stream(0)
	return c
}
