package flinkmeta

func (e *encoder) incomplete(missing bool, what string) bool {
	e.check(!missing, "%s: %w", what, errIncomplete)
	return missing
}

func (e *encoder) stream(s *Stream) {
	if s == nil {
		e.u8(0)
		return
	}
	e.u8(uint8(s.Kind))
	switch s.Kind {
	case InlineStream:
		if e.incomplete(s.Left(), s.Kind.String()) {
			return
		}
		e.utf(s.Path)
		e.bytes32(s.Data)
	case FileStream:
		e.i64(s.Size)
		e.utf(s.Path)
	case RelativeStream:
		e.utf(s.Path)
		e.i64(s.Size)
	case SegmentStream:
		if e.incomplete(s.Segment == nil, s.Kind.String()) {
			return
		}
		e.i64(s.Segment.Start)
		e.i64(s.Size)
		e.i32(s.Segment.Scope)
		e.utf(s.Path)
		e.utf(s.Segment.LogicalFileID)
	case EmptySegmentStream:
	case KeyGroupsStream:
		if e.incomplete(s.KeyGroups == nil, s.Kind.String()) {
			return
		}
		e.keyGroupOffsets(s.KeyGroups.Range, s.KeyGroups.Offsets)
		e.stream(s.KeyGroups.Inner)
	default:
		e.check(false, "%s cannot be written", s.Kind)
	}
}

func (e *encoder) keyGroupRange(r KeyGroupRange) {
	e.i32(r.Start)
	e.i32(r.Count)
}

func (e *encoder) keyGroupOffsets(r KeyGroupRange, offsets []int64) {
	e.check(int(r.Count) == len(offsets), "%d key groups with %d offsets", r.Count, len(offsets))
	e.keyGroupRange(r)
	e.i64s(offsets)
}

func (e *encoder) operatorState(o *OperatorState) {
	if o.Merged == nil {
		e.u8(4)
	} else {
		e.u8(17)
	}
	e.count(len(o.States))
	for _, s := range o.States {
		e.utf(s.Name)
		e.check(s.Mode <= Broadcast, "state %s: %s does not exist", quote(s.Name), s.Mode)
		e.u8(uint8(s.Mode))
		e.count(len(s.Offsets))
		e.i64s(s.Offsets)
	}
	if o.Merged != nil {
		e.utf(o.Merged.TaskOwnedDir)
		e.utf(o.Merged.SharedDir)
		e.bool(o.Merged.Empty)
	}
	e.stream(o.Stream)
}

func (e *encoder) keyed(k *KeyedState) {
	if k == nil {
		e.u8(0)
		return
	}
	e.u8(uint8(k.Kind))
	switch k.Kind {
	case KeyGroupsV1, KeyGroupsV2, KeyGroupsSavepoint:
		if e.incomplete(k.KeyGroups == nil, k.Kind.String()) {
			return
		}
		e.keyGroupOffsets(k.Range, k.KeyGroups.Offsets)
		e.stream(k.KeyGroups.Stream)
	case IncrementalV1, IncrementalV2:
		if e.incomplete(k.Incremental == nil, k.Kind.String()) {
			return
		}
		e.incremental(k)
	case ChangelogV1, ChangelogV2:
		if e.incomplete(k.Changelog == nil, k.Kind.String()) {
			return
		}
		e.changelog(k)
	case InMemoryChanges:
		if e.incomplete(k.InMemory == nil, k.Kind.String()) {
			return
		}
		e.memoryChanges(k)
	case FileChangesV1, FileChangesV2:
		if e.incomplete(k.File == nil, k.Kind.String()) {
			return
		}
		e.fileChanges(k)
	default:
		e.check(false, "%s cannot be written", k.Kind)
	}
	if k.hasHandleID() {
		e.utf(k.HandleID)
	}
	if k.Kind == FileChangesV2 {
		e.utf(k.File.StorageID)
	}
}

func (e *encoder) incremental(k *KeyedState) {
	in := k.Incremental
	e.i64(in.CheckpointID)
	e.utf(in.BackendID)
	e.keyGroupRange(k.Range)
	if k.Kind == IncrementalV2 {
		e.i64(in.CheckpointedSize)
	}
	e.stream(in.Meta)
	for _, files := range [][]NamedStream{in.Shared, in.Private} {
		e.count(len(files))
		for _, f := range files {
			e.utf(f.Name)
			e.stream(f.Stream)
		}
	}
}

func (e *encoder) changelog(k *KeyedState) {
	c := k.Changelog
	e.keyGroupRange(k.Range)
	e.i64(c.CheckpointedSize)
	for _, parts := range [][]*KeyedState{c.Materialized, c.Changes} {
		e.count(len(parts))
		for _, p := range parts {
			e.keyed(p)
		}
	}
	e.i64(c.MaterializationID)
	if k.Kind == ChangelogV2 {
		e.i64(c.CheckpointID)
	}
}

func (e *encoder) memoryChanges(k *KeyedState) {
	e.keyGroupRange(k.Range)
	e.i64(k.InMemory.From)
	e.i64(k.InMemory.To)
	e.count(len(k.InMemory.Changes))
	for _, c := range k.InMemory.Changes {
		e.i32(c.KeyGroup)
		e.bytes32(c.Data)
	}
}

func (e *encoder) fileChanges(k *KeyedState) {
	e.keyGroupRange(k.Range)
	e.count(len(k.File.Parts))
	for _, p := range k.File.Parts {
		e.i64(p.Offset)
		e.stream(p.Stream)
	}
	e.i64(k.File.Size)
	e.i64(k.File.CheckpointedSize)
}

func (e *encoder) channel(c *ChannelState, single, merged ChannelKind) {
	e.check(c.Kind == single || c.Kind == merged, "channel state of kind %d in a list for kinds %d and %d", c.Kind, single, merged)
	if e.version >= 6 {
		e.u8(uint8(c.Kind))
	} else {
		e.check(!c.merged(), "version %d cannot hold merged channel state", e.version)
	}
	e.i32(c.SubtaskIndex)
	if c.merged() {
		e.i64(c.Size)
		e.stream(c.Stream)
		e.bytes32(c.MergedInfo)
		return
	}
	e.i32(c.First)
	e.i32(c.Second)
	e.count(len(c.Offsets))
	e.i64s(c.Offsets)
	e.i64(c.Size)
	e.stream(c.Stream)
}
