package inspect

// Full reports whether a page has all that was asked for.
func (p *RecordPage) Full(q RecordQuestion) bool {
	return len(p.Records) >= q.Count || p.bytes >= q.Bytes
}

// Add adds the next record to a page that is read forward, and moves Next behind it.
// It is false, and the record is left out, where the page would be larger than was
// asked for: one record is taken however large it is.
func (p *RecordPage) Add(q RecordQuestion, r LogRecord) bool {
	if p.Full(q) || p.bytes+r.Size() > q.Bytes && len(p.Records) > 0 {
		return false
	}
	p.bytes += r.Size()
	p.Records = append(p.Records, r)
	p.Next = r.Offset + 1
	return true
}

// FillBack fills an empty page with the records right before its offset: of the
// stretch in front of it, and of ever longer ones in front of that, until enough were
// found or start, the log start, is reached: nothing tells which offsets hold a
// record. read shows the records of [from, to) in order; its error is returned.
func (p *RecordPage) FillBack(q RecordQuestion, start int64, read func(from, to int64, add func(LogRecord)) error) error {
	for stretch := int64(q.Count); p.From > start; stretch *= 2 {
		kept := tail{from: max(start, p.From-stretch), count: q.Count - len(p.Records), bytes: q.Bytes - p.bytes}
		if len(p.Records) == 0 {
			kept.least = 1
		}
		from := kept.from
		if err := read(from, p.From, kept.add); err != nil {
			return err
		}
		p.Records, p.From = append(kept.records, p.Records...), kept.from
		if p.bytes += kept.size; kept.from > from || p.Full(q) {
			return nil
		}
	}
	return nil
}

// tail keeps the last records of a stretch: at least so many, and more as far as
// count and bytes allow.
type tail struct {
	from         int64 // every record from here on is kept
	least, count int
	bytes        int
	records      []LogRecord
	size         int
}

func (t *tail) add(record LogRecord) {
	t.records = append(t.records, record)
	t.size += record.Size()
	for len(t.records) > t.least && (len(t.records) > t.count || t.size > t.bytes) {
		t.from = t.records[0].Offset + 1
		t.size -= t.records[0].Size()
		t.records[0] = LogRecord{} // its value can go
		t.records = t.records[1:]
	}
}
