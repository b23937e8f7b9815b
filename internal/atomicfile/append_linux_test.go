package atomicfile_test

import (
	"testing"

	"github.com/recoverctl/recoverctl/internal/atomicfile"
	"github.com/recoverctl/recoverctl/internal/fault"
)

// /dev/full takes no byte: the error says so, and no more than is known.
func TestAFullDisk(t *testing.T) {
	err := atomicfile.AppendLine("/dev/full", []byte("x"))
	if fault.KindOf(err) != fault.Partial || err.Error() != "the line may be missing in /dev/full: no space left on device" {
		t.Errorf("error %v", err)
	}
}
