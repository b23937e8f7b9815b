// Package stores holds recovery points and topics in memory, for tests of what is
// composed from them. What a test put in is given back as it is, and nothing is
// decided here.
package stores

import (
	"context"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// Points is an inspect.PointStore of recovery points by the place that they lie
// in.
type Points struct {
	Places map[string][]inspect.RecoveryPoint
	Fails  map[string]error // by place, or by a point's URI
}

// Points implements inspect.PointStore.
func (s Points) Points(_ context.Context, place string) ([]inspect.RecoveryPoint, error) {
	return s.Places[place], s.Fails[place]
}

// Point implements inspect.PointStore. A point that says why it could not be read
// fails with that.
func (s Points) Point(_ context.Context, uri string) (inspect.RecoveryPoint, error) {
	for _, points := range s.Places {
		for _, p := range points {
			if p.URI == uri {
				if p.Err != nil {
					return p, p.Err
				}
				return p, s.Fails[uri]
			}
		}
	}
	if err := s.Fails[uri]; err != nil {
		return inspect.RecoveryPoint{}, err
	}
	return inspect.RecoveryPoint{}, fault.New(fault.NotFound, "read recovery point", "no such file or directory: %s", uri)
}

// Log is an inspect.LogStore with one data topic and one control topic, whatever
// they are asked for as.
type Log struct {
	Data       inspect.DataTopic
	DataErr    error
	Control    inspect.ControlTopic
	ControlErr error
}

// DataTopic implements inspect.LogStore.
func (l Log) DataTopic(context.Context, string) (inspect.DataTopic, error) {
	return l.Data, l.DataErr
}

// ControlTopic implements inspect.LogStore.
func (l Log) ControlTopic(context.Context, string) (inspect.ControlTopic, error) {
	return l.Control, l.ControlErr
}
