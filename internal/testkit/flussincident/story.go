package flussincident

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/internal/flussrpc"
	"github.com/recoverctl/recoverctl/internal/testkit/orders"
)

// phase is a stretch of time between two moments of the story.
type phase int

// The phases in order, each named for what ends it.
const (
	toExpired phase = iota // rows up to here have expired
	toSavepoint
	toChk56
	toChk57
	toChk58
	toFailure
	phases
)

// ago is how long before now each phase begins; the last one ends with the failure.
var ago = [phases + 1]time.Duration{
	9 * 24 * time.Hour, 7*24*time.Hour + 40*time.Minute, 26 * time.Hour, 22 * time.Minute, 12 * time.Minute, 3 * time.Minute, 2 * time.Minute,
}

// Two moments inside the phase that ends with the savepoint.
const (
	rollback  = 6 * 24 * time.Hour // when release 0.3 was tried
	idleSince = 8 * 24 * time.Hour // when the idle bucket was written to last
)

// script is how many rows each bucket gets in each phase beside those that the story
// speaks of.
type script struct {
	seed uint64
	rows [Buckets][phases]int
}

func newScript(seed uint64) *script {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &script{seed: seed}
	for b := range s.rows {
		s.rows[b] = [phases]int{180 + r.IntN(80), 240 + r.IntN(90), 60 + r.IntN(30), 24 + r.IntN(12), 20 + r.IntN(10), 4 + r.IntN(3)}
	}
	s.rows[Idle] = [phases]int{s.rows[Idle][toExpired]}
	return s
}

// scene is a turn that the story speaks of. It comes behind the other rows of its
// phase, but for those of the rollback, which begin theirs.
type scene struct {
	phase phase
	key   string
	seq   int64
	shape orders.Shape
}

var scenes = []scene{
	{toSavepoint, "dave", 4, orders.ChargedTwice},
	{toSavepoint, "erin", 9, orders.Forgotten},
	{toChk56, "alice", 16, orders.Charged},
	{toChk56, "alice", 17, orders.ChargeOpen},
	{toChk56, "heidi", 3, orders.ChargeOpen},
	{toChk57, "bob", 1, orders.Notified},
	{toChk57, "bob", 2, orders.MailSaved},
	{toChk57, "carol", 5, orders.ChargeSaved},
	{toChk58, "grace", 0, orders.MailUnderWay},
	{toFailure, "walk-in-1", 0, orders.ChargeOpen},
	{toFailure, "walk-in-2", 0, orders.ChargeOpen},
	{toFailure, "judy", 2, orders.ChargeOpen},
}

// writtenAgain are the keys whose open states the store wrote anew at the beginning
// of a phase, right after the checkpoint before it. At the last one it did not come
// to an end.
var writtenAgain = map[phase][]string{
	toChk57:   {"alice", "heidi"},
	toChk58:   {"alice", "heidi", "bob", "carol"},
	toFailure: {"alice", "bob"},
}

func bucketOf(key string) int { return int(flussrpc.BucketOfString(key, Buckets)) }

// pool are the customers of each bucket.
func pool() (out [Buckets][]orders.Key) {
	const customers = 240
	for n := range customers {
		k := orders.NewKey(fmt.Sprintf("customer-%05d", 10007+n*31))
		out[bucketOf(k.Text)] = append(out[bucketOf(k.Text)], k)
	}
	return out
}

// at is where each bucket ended when a phase did.
func at(logs []bucketLog, last phase) inspect.Offsets {
	out := inspect.Offsets{}
	for b, log := range logs {
		out[int32(b)] = log.ends[last]
	}
	return out
}
