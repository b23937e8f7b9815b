package config

import _ "embed"

//go:embed template.yaml
var template string

// Template is an example configuration for config init: a small profile that
// loads as it is, and every other key in a comment.
func Template() string { return template }
