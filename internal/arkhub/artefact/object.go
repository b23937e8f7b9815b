package artefact

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/recoverctl/recoverctl/internal/safetext"
)

// object calls take with each field of a JSON object. A name that comes twice is
// an error.
func object(data []byte, take func(name string, value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	open, err := d.Token()
	if err != nil {
		return notJSON(d, data, err)
	}
	if open != json.Delim('{') {
		return errors.New("is not a JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return notJSON(d, data, err)
		}
		name, _ := token.(string) // the decoder lets nothing else stand here
		if seen[name] {
			return fmt.Errorf("has the field %s twice", safetext.Of(name).Truncate(60))
		}
		seen[name] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return notJSON(d, data, err)
		}
		if err := take(name, value); err != nil {
			return fmt.Errorf("%s %w", safetext.Of(name).Truncate(60), err)
		}
	}
	if _, err := d.Token(); err != nil {
		return notJSON(d, data, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("has something after its end, at byte %d of %d", d.InputOffset(), len(data))
	}
	return nil
}

func notJSON(d *json.Decoder, data []byte, err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("ends in the middle, after %d bytes", len(data))
	}
	return fmt.Errorf("is not JSON at byte %d of %d: %s", d.InputOffset(), len(data), safetext.Error(err).Truncate(120))
}

// array calls take with each element of a JSON array.
func array(data []byte, take func(value json.RawMessage) error) error {
	d := json.NewDecoder(bytes.NewReader(data))
	open, err := d.Token()
	if err != nil || open != json.Delim('[') {
		return errors.New("is not a JSON array")
	}
	for i := 0; d.More(); i++ {
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return notJSON(d, data, err)
		}
		if err := take(value); err != nil {
			return fmt.Errorf("[%d] %w", i, err)
		}
	}
	return nil
}

func readText(data []byte, to *string) error {
	if len(data) == 0 || data[0] != '"' {
		return errors.New("is not text")
	}
	return json.Unmarshal(data, to)
}

func readUint(data []byte, bits int, to *uint64) error {
	n, err := strconv.ParseUint(string(data), 10, bits)
	if err != nil {
		return fmt.Errorf("is not a whole number of %d bits", bits)
	}
	*to = n
	return nil
}

func readInt(data []byte, to *int64) error {
	n, err := strconv.ParseInt(string(data), 10, 64)
	if err != nil {
		return errors.New("is not a whole number of 64 bits")
	}
	*to = n
	return nil
}

func isNull(data []byte) bool { return string(data) == "null" }

// missing names the fields that must be there and are not.
func missing(seen map[string]bool, names ...string) error {
	for _, name := range names {
		if !seen[name] {
			return fmt.Errorf("has no field %s", name)
		}
	}
	return nil
}

// appendText writes a string as serde_json does: only what JSON demands is
// escaped.
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\b':
			b = append(b, `\b`...)
		case c == '\f':
			b = append(b, `\f`...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < 0x20:
			b = append(b, `\u00`...)
			b = append(b, hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
