package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/recoverctl/recoverctl/actions"
	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

const schema = "recoverctl/v1"

// envelope is the JSON form of every result.
type envelope struct {
	Schema string      `json:"schema"`
	Kind   string      `json:"kind"`
	Data   any         `json:"data"`
	Faults []faultJSON `json:"faults"`
}

type errorEnvelope struct {
	Schema string    `json:"schema"`
	Kind   string    `json:"kind"`
	Error  faultJSON `json:"error"`
}

type faultJSON struct {
	Code    string   `json:"code"`
	Exit    int      `json:"exit"`
	Message string   `json:"message"`
	Hint    string   `json:"hint"`
	Refs    []string `json:"refs"`

	// Problem is the refusal behind the fault: its stage, reason word and numbers.
	Problem *actions.Refusal `json:"problem,omitempty"`
}

func faultOf(err error) faultJSON {
	f := fault.Of(err)
	refs := f.Refs
	if refs == nil {
		refs = []string{}
	}
	out := faultJSON{Code: f.Kind.String(), Exit: f.Kind.Exit(), Message: safetext.Lines(err.Error()).String(), Hint: f.Hint, Refs: refs}
	errors.As(err, &out.Problem)
	return out
}

// exitStatus ends a command with a code after its result was printed.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// printer renders results: text through render, or the JSON envelope.
type printer struct {
	streams
	json bool
}

// result prints data with the faults that were met on the way. In text the
// faults go to standard error, after the result.
func (p printer) result(kind string, data any, faults []error, render func(*table)) error {
	faults = fault.All(errors.Join(faults...))
	if p.json {
		list := make([]faultJSON, 0, len(faults))
		for _, err := range faults {
			list = append(list, faultOf(err))
		}
		return writeJSON(p.out, envelope{Schema: schema, Kind: kind, Data: data, Faults: list})
	}
	t := newTable(p.out, p.width)
	render(t)
	if err := t.flush(); err != nil {
		return notWritten(err)
	}
	for _, err := range faults {
		p.complain("not everything could be read", err)
	}
	return nil
}

// complain prints one error for a person.
func (p printer) complain(prefix string, err error) {
	fmt.Fprintf(p.err, "%s: %s\n", prefix, safetext.Lines(err.Error()))
	var refused *actions.Refusal
	if errors.As(err, &refused) {
		reason := "  reason: " + refused.Problem.Code
		if refused.Stage != "" {
			reason += ", at the stage " + string(refused.Stage)
		}
		fmt.Fprintln(p.err, reason)
	}
	if f := fault.Of(err); f.Hint != "" {
		fmt.Fprintf(p.err, "  %s\n", safetext.Lines(f.Hint))
	}
}

// fail reports the error that ended a command, and returns its exit code.
func (p printer) fail(err error) int {
	var status exitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	worst := fault.All(err)[0]
	if p.json {
		if writeErr := writeJSON(p.err, errorEnvelope{Schema: schema, Kind: "Error", Error: faultOf(worst)}); writeErr != nil {
			return fault.Bug.Exit()
		}
	} else {
		for _, one := range fault.All(err) {
			p.complain("recoverctl", one)
		}
	}
	return fault.KindOf(worst).Exit()
}

// writeJSON writes exact values in which no character can steer a terminal.
func writeJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("encode the result: %w", err)
	}
	if _, err := w.Write(escapeUnprintable(b.Bytes())); err != nil {
		return notWritten(err)
	}
	return nil
}

// notWritten is the fault for an output that takes no more: a full disk, or a
// reader that has gone. It is no defect of this program, and nothing could be
// said. What was asked for is done, and asking again is safe.
func notWritten(err error) error {
	return fault.Wrap(fault.Unreachable, "write the result", err, "the result is not all written")
}

// escapeUnprintable writes every character that safetext would replace as \u
// escapes. Outside ASCII such characters stand only inside JSON strings, where
// an escape is the same value.
func escapeUnprintable(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for len(doc) > 0 {
		r, size := utf8.DecodeRune(doc)
		switch {
		case r < utf8.RuneSelf && r != 0x7f, safetext.Printable(r):
			out = append(out, doc[:size]...)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
		}
		doc = doc[size:]
	}
	return out
}
