package overview

import (
	"slices"

	"github.com/recoverctl/recoverctl/tui"
)

// Elsewhere are those of a job's palette commands that lead to another screen
// than the one of this name.
func Elsewhere(commands []tui.Command, name string) []tui.Command {
	return slices.DeleteFunc(slices.Clone(commands), func(c tui.Command) bool { return c.Name == name })
}
