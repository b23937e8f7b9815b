package main

import (
	"context"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/inspect/kafka"
	"github.com/recoverctl/recoverctl/internal/fault"
)

var (
	_ inspect.CallReader   = (*cluster)(nil)
	_ inspect.RecordReader = (*cluster)(nil)
)

// askCluster asks the cluster and keeps whether it answered: one that was there and is
// silent now is not called ok. Without a connection the answer is the one given.
func askCluster[T any](ctx context.Context, c *cluster, without T, ask func(*kafka.Store) (T, error)) (T, error) {
	store, err := c.open(ctx)
	if err != nil {
		return without, err
	}
	got, err := ask(store)
	switch {
	case ctx.Err() != nil: // whoever asked stopped waiting: nobody knows
	case err != nil && fault.KindOf(err) == fault.Unreachable:
		c.link.failed(err)
	default: // also what it refuses or does not have is an answer
		c.link.up()
	}
	return got, err
}

// ReadCalls implements inspect.CallReader.
func (c *cluster) ReadCalls(ctx context.Context, topic inspect.DataTopic, q inspect.CallQuestion, watch func(inspect.CallUpdate)) (inspect.DurableCalls, error) {
	return askCluster(ctx, c, inspect.DurableCalls{}, func(s *kafka.Store) (inspect.DurableCalls, error) { return s.ReadCalls(ctx, topic, q, watch) })
}

// ReadRecords implements inspect.RecordReader.
func (c *cluster) ReadRecords(ctx context.Context, topic inspect.DataTopic, q inspect.RecordQuestion) (inspect.RecordPage, error) {
	return askCluster(ctx, c, inspect.RecordPage{}, func(s *kafka.Store) (inspect.RecordPage, error) { return s.ReadRecords(ctx, topic, q) })
}

// OffsetsAt implements inspect.RecordReader.
func (c *cluster) OffsetsAt(ctx context.Context, topic inspect.DataTopic, at time.Time) (inspect.Offsets, error) {
	return askCluster(ctx, c, nil, func(s *kafka.Store) (inspect.Offsets, error) { return s.OffsetsAt(ctx, topic, at) })
}
