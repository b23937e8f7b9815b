package main

import (
	"testing"

	"github.com/recoverctl/recoverctl/config"
	"github.com/recoverctl/recoverctl/tui/theme"
)

// The console takes --no-color as it takes NO_COLOR.
func TestTheConsoleIsPaintedAsAskedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		term    string
		noColor bool
		want    theme.Palette
	}{
		"colours":                     {"xterm", false, theme.Dark},
		"none, by the flag":           {"xterm", true, theme.Mono},
		"no style on a dumb terminal": {"dumb", true, theme.NoStyle},
	} {
		t.Run(name, func(t *testing.T) {
			a := &app{streams: streams{environ: []string{"TERM=" + tt.term}}, loaded: &config.Loaded{NoColor: tt.noColor}}
			if got := a.look().Palette; got != tt.want {
				t.Errorf("palette %s, want %s", got, tt.want)
			}
		})
	}
}
