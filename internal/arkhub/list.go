package arkhub

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/httpread"
)

// MaxItems is how many rows of one list are read. Hubs keep at most 2048 of
// what grows.
const MaxItems = 10_000

// List is a list of rows, as many as are kept.
type List[T any] struct {
	Items   []T
	Total   uint64 // that the hub says there are; at least len(Items)
	Dropped int    // rows that lack what makes them one
	Cut     bool   // there are more than MaxItems
}

// row is what a list is made of. An empty key says that it is none.
type row interface{ key() string }

func join(parts ...string) string { return strings.Join(parts, "\x00") }

func numberKey(n Count) string {
	if v, ok := n.Get(); ok {
		return strconv.FormatUint(v, 10)
	}
	return ""
}

func momentKey(m Moment) string {
	if v, ok := m.Get(); ok {
		return strconv.FormatInt(int64(v), 10)
	}
	return ""
}

// page is one answer with rows: a bare array, or a page of one.
type page struct {
	rows  []json.RawMessage
	total Count
	paged bool
}

// readPage accepts both forms for every list: hubs differ.
func (c *Client) readPage(a httpread.Answer) (page, error) {
	raw, err := httpread.Decode[json.RawMessage](c.http, a)
	if err != nil {
		return page{}, err
	}
	var p page
	if json.Unmarshal(raw, &p.rows) == nil && p.rows != nil {
		return p, nil
	}
	var whole struct {
		Items *[]json.RawMessage `json:"items"`
		Total Count              `json:"total"`
	}
	if json.Unmarshal(raw, &whole) != nil || whole.Items == nil {
		return page{}, fault.New(fault.Unsupported, op, "%s answers with JSON that is no list", a.URL).
			WithHint("is this %s?", service).WithRef(a.URL.String())
	}
	return page{rows: *whole.Items, total: whole.Total, paged: true}, nil
}

// take adds the rows of a page that are rows and not there yet.
func take[T row](l *List[T], seen map[string]bool, rows []json.RawMessage) {
	for _, raw := range rows {
		var item T
		if json.Unmarshal(raw, &item) != nil || item.key() == "" {
			l.Dropped++
			continue
		}
		if k := item.key(); !seen[k] {
			seen[k] = true
			l.Items = append(l.Items, item)
		}
	}
}
