package httpread

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"

	"github.com/recoverctl/recoverctl/internal/fault"
	"github.com/recoverctl/recoverctl/internal/safetext"
)

// GetJSON reads one address and decodes the answer, which must be exactly one
// JSON value. Fields that T doesn't have are left out: servers grow. Its errors
// are Get's, and
//
//   - Unsupported: a page where JSON was expected, an empty answer, or a value
//     of another type than T's field
//   - Corrupt: text that is not JSON
func GetJSON[T any](ctx context.Context, c *Client, address string) (T, error) {
	var value T
	answer, err := c.Get(ctx, address)
	if err != nil {
		return value, err
	}
	return Decode[T](c, answer)
}

// Decode is what GetJSON makes of an answer.
func Decode[T any](c *Client, answer Answer) (T, error) {
	var value T
	if err := c.decode(answer, &value); err != nil {
		var zero T // never half a value beside an error
		return zero, err
	}
	return value, nil
}

func (c *Client) decode(answer Answer, value any) error {
	hint := "is this " + c.options.Service + "?"
	switch {
	case IsHTML(answer.ContentType, answer.Body):
		return fault.New(fault.Unsupported, op, "%s answers with an HTML page where JSON was expected", answer.URL).
			WithHint("%s", hint).WithRef(answer.URL.String())
	case len(answer.Body) == 0:
		return fault.New(fault.Unsupported, op, "%s answers with nothing where JSON was expected", answer.URL).
			WithHint("%s", hint).WithRef(answer.URL.String())
	}
	// Unmarshal refuses anything after the value.
	err := json.Unmarshal(answer.Body, value)
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		if strings.HasPrefix(syntax.Error(), "unexpected end") { // the package has no other name for it
			hint = "it ends in the middle: try again; if it stays, look at the proxy or load balancer between"
		}
		return fault.New(fault.Corrupt, op, "the answer of %s is not JSON at byte %d of %d (%s): %s",
			answer.URL, syntax.Offset, len(answer.Body), safetext.Error(syntax), c.excerpt("", answer.Body)).
			WithHint("%s", hint).WithRef(answer.URL.String())
	case errors.As(err, &kind):
		field := safetext.Of(kind.Field)
		if field.IsEmpty() {
			field = safetext.Of("the whole answer")
		}
		return fault.New(fault.Unsupported, op, "in the answer of %s, %s is a JSON %s where %s was expected",
			answer.URL, field, safetext.Of(kind.Value), jsonWord(kind.Type)).
			WithHint("%s", hint).WithRef(answer.URL.String())
	default:
		return fault.New(fault.Unsupported, op, "the answer of %s can't be used: %s", answer.URL, safetext.Error(err)).
			WithHint("%s", hint).WithRef(answer.URL.String())
	}
}

// jsonWord is what JSON calls a type of Go, whose own name says nothing to an
// operator.
func jsonWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "bool"
	case reflect.Pointer:
		return jsonWord(t.Elem())
	default:
		return "number"
	}
}
