package tuitest

import (
	"bytes"
	"sync"
)

// clipboard takes what goes to the terminal beside frames. As a terminal does,
// it takes one piece after another: two copies may be on their way at once.
type clipboard struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (c *clipboard) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes.Write(p)
}

func (c *clipboard) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.bytes.String()
}
