package inspect

import (
	"sync"
	"time"
)

const (
	updatePause = 100 * time.Millisecond // between two updates
	firstPause  = updatePause / 4        // before the first one, so that the first call is told soon
)

// Telling calls tell from time to time while a scan runs, at most ten times a
// second, and once more, as complete, when the returned function is called.
func Telling(tell func(complete bool)) (end func()) {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		pause := firstPause
		timer := time.NewTimer(pause)
		defer timer.Stop()
		for {
			select {
			case <-stop:
				return
			case <-timer.C:
				tell(false)
				pause = min(2*pause, updatePause)
				timer.Reset(pause)
			}
		}
	})
	return func() {
		close(stop)
		wg.Wait()
		tell(true)
	}
}

// Windows are what a reader of the topic reads for the question, and the extent of a
// scan that has read nothing of them yet. Errs are why partitions are left out.
func (q CallQuestion) Windows(data DataTopic) (windows []Window, extent ScanExtent, errs []error) {
	extent = ScanExtent{From: Offsets{}, To: Offsets{}, Read: Offsets{}}
	for _, p := range data.Partitions {
		if p.Err != nil {
			errs = append(errs, p.Err)
			continue
		}
		from := p.Log.Start
		if at, ok := q.From[p.ID]; ok {
			from = min(max(at, from), p.Log.End)
		}
		extent.From[p.ID], extent.To[p.ID], extent.Read[p.ID] = from, p.Log.End, from
		windows = append(windows, Window{Partition: p.ID, From: from, To: p.Log.End})
	}
	return windows, extent, errs
}
