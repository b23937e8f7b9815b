package main

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
)

var (
	_ inspect.CallReader   = (*cluster)(nil)
	_ inspect.RecordReader = (*cluster)(nil)
)

// ReadCalls implements inspect.CallReader.
func (c *cluster) ReadCalls(ctx context.Context, topic inspect.DataTopic, q inspect.CallQuestion, watch func(inspect.CallUpdate)) (inspect.DurableCalls, error) {
	store, err := c.open(ctx)
	if err != nil {
		return inspect.DurableCalls{}, err
	}
	return store.ReadCalls(ctx, topic, q, watch)
}

// ReadRecords implements inspect.RecordReader.
func (c *cluster) ReadRecords(ctx context.Context, topic inspect.DataTopic, q inspect.RecordQuestion) (inspect.RecordPage, error) {
	store, err := c.open(ctx)
	if err != nil {
		return inspect.RecordPage{}, err
	}
	return store.ReadRecords(ctx, topic, q)
}

// OffsetsAt implements inspect.RecordReader.
func (c *cluster) OffsetsAt(ctx context.Context, topic inspect.DataTopic, at time.Time) (inspect.Offsets, error) {
	store, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	return store.OffsetsAt(ctx, topic, at)
}
