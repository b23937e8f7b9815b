package flussrpc

import (
	"sync"
	"sync/atomic"
)

// smallFrame is up to what size, in bytes, a frame gets memory of its own: it is not
// worth keeping.
const smallFrame = 64 << 10

// buffer is the memory of one large frame. A scan would otherwise ask the runtime
// for as many bytes as its log has; so a frame whose rows were shown is read into
// again. Whoever holds a buffer may look at its bytes until it lets go of it, and
// not a moment longer.
//
// One that nobody lets go of is the collector's, as any memory: to forget it is
// never wrong, to let go of it twice always is.
type buffer struct {
	bytes   []byte
	holders atomic.Int32
	home    *sync.Pool
}

// newBuffer takes one that was let go of, or a new one, for one holder.
func newBuffer(home *sync.Pool) *buffer {
	b, ok := home.Get().(*buffer)
	if !ok {
		b = &buffer{home: home}
	}
	b.holders.Store(1)
	return b
}

// hold adds a holder. Nil is the memory of a small frame, which is nobody's.
func (b *buffer) hold() {
	if b != nil {
		b.holders.Add(1)
	}
}

// release lets go of the bytes.
func (b *buffer) release() {
	if b != nil && b.holders.Add(-1) == 0 && cap(b.bytes) <= keptFrame {
		b.home.Put(b)
	}
}

// keptFrame is how large a buffer may be that is kept, in bytes: an answer of rows,
// and a batch that goes beyond it.
const keptFrame = 2 * fetchBytes
