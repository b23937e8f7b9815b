package kafka

import (
	"context"
	"sync"

	"github.com/recoverctl/recoverctl/inspect"
)

// DataTopic describes a topic now: id, partitions with leaders and log ranges,
// and the effective cleanup.policy, retention.bytes and retention.ms.
//
// The log end is the high watermark, which a restore reads to. A partition whose
// offsets can't be read carries its own error. When only the settings can't be
// read, the topic is returned without them, beside an error. With any other
// error the topic is not described and Exists is false: Denied where Describe is
// missing, Drift where the topic was deleted, recreated or given partitions
// while it was read.
func (s *Store) DataTopic(ctx context.Context, name string) (inspect.DataTopic, error) {
	out := inspect.DataTopic{Name: name, At: s.clock.Now()}
	t, err := s.topic(ctx, name)
	out.ClusterID = t.clusterID
	if err != nil || !t.exists {
		return out, err
	}

	var (
		wg          sync.WaitGroup
		settings    []inspect.Setting
		settingsErr error
	)
	wg.Go(func() {
		settings, settingsErr = s.settings(ctx, name, cleanupPolicy, "retention.bytes", "retention.ms")
	})
	partitions := s.partitions(ctx, t)
	wg.Wait()
	if err := s.unchanged(ctx, t); err != nil {
		return out, err
	}
	out.Exists, out.TopicID, out.Partitions, out.Settings = true, t.idText(), partitions, settings
	return out, settingsErr
}
