package inspect

import (
	"slices"

	"github.com/recoverctl/recoverctl/internal/flinkkey"
)

// AgentKey is the column in which an action-state table has the text of a row's
// business key, and the header by which a record of one tells it.
const AgentKey = "agent_key"

// NamesKey reports whether a digest, as record keys of generation 3 have it, is that
// of a key with this text, of whatever type. A text that does not fit is no name of
// the key, whoever wrote it.
func NamesKey(digest, text string) bool {
	return slices.ContainsFunc(flinkkey.Types(), func(kind string) bool {
		k, err := flinkkey.New(kind, text)
		return err == nil && (k.Digest() == digest || slices.Contains(k.OtherDigests(), digest))
	})
}

// named gives a record the text of its key from the column that has it.
func (d *DecodedRecord) named(store Store, headers []RecordHeader) {
	if store != StoreFluss || d.BusinessKey == nil || d.BusinessKey.Text != nil || d.BusinessKey.Digest == "" {
		return
	}
	for _, h := range headers {
		if text := string(h.Value); h.Key == AgentKey && NamesKey(d.BusinessKey.Digest, text) {
			d.BusinessKey.Text = &text
		}
	}
}
