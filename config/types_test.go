package config

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/recoverctl/recoverctl/internal/secret"
)

// name fills a value with one of everything, and names each source of a secret.
func name(v reflect.Value, into *[]string) {
	source, isSource := v.Addr().Interface().(*secret.Source)
	switch {
	case isSource:
		source.For = fmt.Sprint("secret ", len(*into))
		*into = append(*into, source.For)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				name(v.Field(i), into)
			}
		}
	case v.Kind() == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct:
		v.Set(reflect.New(v.Type().Elem()))
		name(v.Elem(), into)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		name(v.Index(0), into)
	}
}

// No secret of a profile is left out of those that are asked for before the console
// takes the terminal.
func TestSecretsAreAllOfThem(t *testing.T) {
	var p Profile
	var want []string
	name(reflect.ValueOf(&p).Elem(), &want)
	if len(want) < 9 {
		t.Fatalf("only %d secrets are in a profile", len(want))
	}
	var got []string
	for _, s := range p.Secrets() {
		got = append(got, s.For)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
