package arrowsafe

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Bounded is an allocator with a limit: the library believes what a compressed
// buffer says that it unpacks to. Where the memory ends, it panics, since the
// library knows no other way out.
type Bounded struct {
	memory.Allocator
	limit, used int
}

// New makes memory of so many bytes.
func New(limit int) *Bounded {
	return &Bounded{Allocator: memory.NewGoAllocator(), limit: limit}
}

// Renew makes it as large again as it was at first: nothing that was taken from it
// is in use any more.
func (b *Bounded) Renew() { b.used = 0 }

func (b *Bounded) grow(size int) {
	if size < 0 || size > b.limit-b.used {
		panic(fmt.Errorf("it unpacks to more than %d bytes", b.limit))
	}
	b.used += size
}

// Allocate implements memory.Allocator.
func (b *Bounded) Allocate(size int) []byte {
	b.grow(size)
	return b.Allocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (b *Bounded) Reallocate(size int, old []byte) []byte {
	b.grow(size)
	return b.Allocator.Reallocate(size, old)
}
