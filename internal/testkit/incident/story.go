package incident

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

// What the story is about.
const (
	Profile      = "demo"
	Job          = "order-agent"
	Topic        = "action-state"
	ControlTopic = "action-state-control"
	Partitions   = 64

	// seed is that of the demo.
	seed = 20240742
	// keys is how many business keys there are.
	keys = 1600
)

// phase is a stretch of time between two moments of the story.
type phase int

// The phases in order, each named for what ends it.
const (
	toFirstCleanup phase = iota // the applied operation's boundary
	toOldCheckpoint
	toSavepoint
	toSecondCleanup // chk-42, the boundary in force
	toChk43
	toChk44
	toNow
	phases
)

// ago is how long before now each phase begins; the last one ends now.
var ago = [phases + 1]time.Duration{
	9 * 24 * time.Hour, 8 * 24 * time.Hour, 24 * time.Hour, 3 * time.Hour, 22 * time.Minute, 12 * time.Minute, 2 * time.Minute, 0,
}

// script is how many records each partition gets in each phase.
type script [Partitions][phases]int

// newScript draws the counts. Those of the partitions that the story speaks of
// are given.
func newScript(seed uint64) *script {
	r := rand.New(rand.NewPCG(seed, 1))
	var s script
	for p := range s {
		s[p] = [phases]int{
			20 + r.IntN(40), 24 + r.IntN(50), 10 + r.IntN(16), 8 + r.IntN(14), 82 + r.IntN(60), 60 + r.IntN(44), 8 + r.IntN(14),
		}
	}
	copy(s[0][:], []int{100, 13, 18, 19}) // read from 100, boundary 150
	copy(s[1][:], []int{120, 8, 12, 10})  // read from 120, boundary 150
	copy(s[3][:], []int{90, 60, 30, 20})  // boundary 200
	return &s
}

// end is the offset after the last record of a phase.
func (s *script) end(partition int, last phase) int {
	sum := 0
	for _, n := range s[partition][:last+1] {
		sum += n
	}
	return sum
}

// at is the log's end when a phase ended.
func (s *script) at(last phase) inspect.Offsets {
	out := inspect.Offsets{}
	for p := range s {
		out[int32(p)] = int64(s.end(p, last))
	}
	return out
}

// within is the log's end when percent of a phase's records were written.
func (s *script) within(in phase, percent int) inspect.Offsets {
	out := s.at(in)
	for p := range s {
		out[int32(p)] -= int64(s[p][in] * (100 - percent) / 100)
	}
	return out
}

// logStarts is where the log starts now: the second cleanup did not reach
// partitions 0 and 1.
func (s *script) logStarts() inspect.Offsets {
	out, before := s.at(toSecondCleanup), s.at(toFirstCleanup)
	out[0], out[1] = before[0], before[1]
	return out
}

// slot is when the phase of an offset begins and ends, and when the record at
// the offset is due. lateness is from 0 to 1.
func (s *script) slot(partition, offset int, now time.Time, lateness float64) (begin, end, due time.Time) {
	ph := toFirstCleanup
	for ph < toNow && offset >= s[partition][ph] {
		offset -= s[partition][ph]
		ph++
	}
	begin, end = now.Add(-ago[ph]), now.Add(-ago[ph+1])
	share := (float64(offset) + lateness) / float64(s[partition][ph])
	return begin, end, begin.Add(time.Duration(share * float64(end.Sub(begin))))
}

// cast are the keys of each partition, and those that the story speaks of.
type cast struct {
	pool  [Partitions][]orders.Key
	alice orders.Key // her charge is pending
	bob   orders.Key // his mail was sent, the action did not end
	carol orders.Key // her action has begun, and no call of it is on record
}

// newCast makes the keys. Alice, Bob and Carol do nothing but what the story needs.
func newCast() (*cast, error) {
	c := &cast{alice: orders.NewKey("alice"), bob: orders.NewKey("bob"), carol: orders.NewKey("carol")}
	for n := range keys {
		k := orders.NewKey(fmt.Sprintf("customer-%05d", 10007+n*31))
		c.pool[partitionOf(k)] = append(c.pool[partitionOf(k)], k)
	}
	for p, pool := range c.pool {
		if len(pool) == 0 {
			return nil, fmt.Errorf("incident: no key lies on partition %d", p)
		}
	}
	return c, nil
}
