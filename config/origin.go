package config

import (
	"fmt"
	"strings"
)

// OriginKind says what sort of place a value came from.
type OriginKind uint8

// The places, weakest first. The zero kind is NotSet.
const (
	NotSet   OriginKind = iota // nobody gave a value and there is no default
	Default                    // this program's default
	File                       // the configuration file
	Variable                   // a RECOVERCTL_ variable
	Flag                       // a flag
)

// Origin is where a value came from.
type Origin struct {
	Kind OriginKind
	Name string // the file's path, the variable's name, or the flag with its dashes
	Line int    // in the file, from 1; 0 for other kinds
}

// String is the origin as people read it: "/etc/recoverctl.yaml:12",
// "RECOVERCTL_TOPIC", "--topic", "default" or "not set".
func (o Origin) String() string {
	switch o.Kind {
	case Default:
		return "default"
	case File:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	case Variable, Flag:
		return o.Name
	default:
		return "not set"
	}
}

func flagOrigin(name string) Origin { return Origin{Kind: Flag, Name: "--" + name} }

func variableOrigin(name string) Origin { return Origin{Kind: Variable, Name: variableName(name)} }

// variableName is the RECOVERCTL_ variable that stands for a flag.
func variableName(flag string) string {
	return variablePrefix + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

const variablePrefix = "RECOVERCTL_"
