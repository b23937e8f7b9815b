// Command guarded starts as the console does: its imports pull in bubbletea,
// and termguard is released first thing in main.
package main

import (
	"fmt"
	"os"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/recoverctl/recoverctl/internal/termguard"
)

func main() {
	if err := termguard.Release(); err != nil {
		fmt.Println("release:", err)
		os.Exit(1)
	}
	ci, set := os.LookupEnv("CI")
	fmt.Printf("main runs, CI=%q set=%t, colours %s, message %T\n", ci, set, lipgloss.ColorProfile().Name(), tea.Quit())
}
