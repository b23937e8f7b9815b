package kafkaproxy

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// Trim is one partition of one DeleteRecords request.
type Trim struct {
	Request Request
	Part
}

// Trims is every trim that was asked for, in the order in which they came,
// whether or not a broker ever saw it.
func Trims(requests []Request) (trims []Trim) {
	for _, r := range requests {
		if r.Key != kmsg.DeleteRecords {
			continue
		}
		for _, part := range r.Parts {
			trims = append(trims, Trim{Request: r, Part: part})
		}
	}
	return trims
}

// CheckTrims checks on a trace what must hold whatever breaks, and returns
// every violation:
//
//   - no trim names an offset below zero: −1 stands for everything;
//   - no trim is asked for before a record that committed picks out was
//     acknowledged by a broker. That the client never heard of it is no
//     violation: it may have read it back.
//
// It must see the whole trace, from before the first record was written.
func CheckTrims(requests []Request, committed func(topic string, r kmsg.Record) bool) error {
	var violations []error
	since, err := firstAcknowledged(requests, committed)
	if err != nil {
		violations = append(violations, err)
	}
	for _, trim := range Trims(requests) {
		if trim.Offset < 0 {
			violations = append(violations, fmt.Errorf("kafkaproxy: %s: topic %s partition %d is trimmed to %d", trim.Request, trim.Topic, trim.Partition, trim.Offset))
		}
		switch {
		case since == 0:
			violations = append(violations, fmt.Errorf("kafkaproxy: %s: topic %s partition %d is trimmed, and no committed record was ever acknowledged", trim.Request, trim.Topic, trim.Partition))
		case trim.Request.Received < since:
			violations = append(violations, fmt.Errorf("kafkaproxy: %s: topic %s partition %d is trimmed before the committed record was acknowledged (#%d)", trim.Request, trim.Topic, trim.Partition, since))
		}
	}
	return errors.Join(violations...)
}

// firstAcknowledged is when a broker first acknowledged a record that wanted
// picks out; 0: never. A batch that can't be looked into is an error.
func firstAcknowledged(requests []Request, wanted func(string, kmsg.Record) bool) (int, error) {
	first := 0
	var errs []error
	for _, r := range requests {
		if r.Key != kmsg.Produce {
			continue
		}
		for _, part := range r.Parts {
			records, err := part.Records()
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if part.Answer == nil || part.Answer.Err != nil {
				continue
			}
			for _, record := range records {
				if wanted(part.Topic, record) && (first == 0 || r.Served < first) {
					first = r.Served
				}
			}
		}
	}
	return first, errors.Join(errs...)
}
