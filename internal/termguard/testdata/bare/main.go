// Command bare imports bubbletea without the guard.
package main

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"
)

func main() {
	fmt.Printf("main runs, message %T\n", tea.Quit())
}
