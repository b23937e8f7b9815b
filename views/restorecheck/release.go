package restorecheck

import (
	"strings"

	"github.com/recoverctl/recoverctl/inspect"
	"github.com/recoverctl/recoverctl/tui/theme"
	"github.com/recoverctl/recoverctl/views/phrase"
)

// otherwise warns beside the verdict where the job's own release would do
// something else: the verdict alone would mislead.
func (p *page) otherwise(v inspect.RestoreValidation) {
	if len(v.Runtime) == 1 && !phrase.Agrees(v.Verdict, v.Runtime[0]) {
		p.Sign(theme.Warning, own(v, v.Runtime[0]))
		return
	}
	var others []string
	for _, r := range v.Runtime {
		if len(v.Runtime) > 1 && !phrase.Agrees(v.Verdict, r) {
			others = append(others, phrase.Safe(string(r.Release)))
		}
	}
	if len(others) > 0 {
		p.Sign(theme.Warning, "The job's release is not known. "+strings.Join(others, ", ")+" would do otherwise, as below.")
	}
}

// releases say what the job's own release does, or all where it is not known.
func (p *page) releases(v inspect.RestoreValidation) {
	if len(v.Runtime) == 1 {
		if phrase.Agrees(v.Verdict, v.Runtime[0]) {
			p.Hang(indent, theme.Plain, own(v, v.Runtime[0]))
		}
		return
	}
	for _, r := range v.Runtime {
		p.Hang(indent+"Release "+phrase.Safe(string(r.Release))+" ", theme.Plain, phrase.Does(r)+": "+phrase.Safe(r.Message)+".")
	}
}

func own(v inspect.RestoreValidation, r inspect.Runtime) string {
	your := "Your release (" + phrase.Safe(string(r.Release)) + ") "
	if r.Release == inspect.ReleaseNext && v.Verdict == inspect.Rejected && phrase.Agrees(v.Verdict, r) {
		return your + "rejects this too." // its sentence is the headline
	}
	return your + phrase.Does(r) + ": " + phrase.Safe(r.Message) + "."
}
