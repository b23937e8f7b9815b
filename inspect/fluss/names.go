package fluss

import (
	"context"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
)

// maxNames is how many keys' texts are looked up in the rows of their actions.
const maxNames = 500

// named gives actions the texts of their keys that no recovery point knew: a table has
// them in a column of their own, which is read for these rows alone. A text that is
// not that of the key's digest is none, and one that can't be read is left out: the
// digest is told then.
func (c *callScan) named(ctx context.Context, lists ...[]inspect.ActionCalls) {
	wanted := map[int32][]*inspect.ActionCalls{} // by bucket
	n := 0
	for _, list := range lists {
		for i := range list {
			a := &list[i]
			if a.Key.Text != nil || a.Key.Digest == "" || n == maxNames {
				continue
			}
			c.mu.Lock()
			text, known := c.names[a.Key.Digest]
			c.mu.Unlock()
			if known {
				a.Key.Text = &text
				continue
			}
			n++
			wanted[a.Partition] = append(wanted[a.Partition], a)
		}
	}
	if len(wanted) == 0 {
		return
	}
	r := c.readers.schemas.Columns(agentKey)
	defer r.Close()
	for len(wanted) > 0 && ctx.Err() == nil {
		c.namesOf(ctx, r, wanted)
	}
}

// namesOf looks up one row of each bucket, and takes its action off the list.
func (c *callScan) namesOf(ctx context.Context, r *flussrpc.ColumnReader, wanted map[int32][]*inspect.ActionCalls) {
	q := flussrpc.Scan{Table: c.table, Partition: flussrpc.NoPartition}
	if c.store.files != nil {
		q.Files = c.store.files
	}
	next := map[int32]*inspect.ActionCalls{}
	for bucket, list := range wanted {
		a := list[0]
		next[bucket] = a
		q.Spans = append(q.Spans, flussrpc.Span{Bucket: bucket, From: a.Offset, To: a.Offset + 1})
		if wanted[bucket] = list[1:]; len(list) == 1 {
			delete(wanted, bucket)
		}
	}
	q.Visit = func(p flussrpc.Piece) error {
		c.naming.Lock()
		defer c.naming.Unlock()
		return r.Rows(ctx, p.Batch, func(row flussrpc.Picked) error {
			if a := next[p.Bucket]; row.Offset == a.Offset && inspect.NamesKey(a.Key.Digest, string(row.Cells[0])) {
				text := string(row.Cells[0])
				a.Key.Text = &text
				c.mu.Lock()
				c.names[a.Key.Digest] = text
				c.mu.Unlock()
			}
			return nil
		})
	}
	c.store.client.Scan(ctx, q)
}
