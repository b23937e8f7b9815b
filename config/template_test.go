package config

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// uncommented is the template with every key at work.
func uncommented() string {
	return regexp.MustCompile(`(?m)^#(  +)`).ReplaceAllString(Template(), "$1")
}

// decodeText decodes a text as the file /etc/recoverctl/config.yaml.
func decodeText(text string) (Config, *decoder, Problems) {
	d := &decoder{
		file: "config.yaml", dir: "/etc/recoverctl",
		origins: map[string]Origin{}, asked: map[string]struct{}{},
	}
	root, problems := parseTree(d.file, []byte(text))
	if len(problems) > 0 {
		problems.sort()
		return Config{}, d, problems
	}
	c := d.decode(root)
	d.problems.sort()
	return c, d, d.problems
}

func TestTemplateLoadsAsItIs(t *testing.T) {
	c, _, problems := decodeText(Template())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if len(c.Profiles) != 1 || c.DefaultProfile != c.Profiles[0].Name || len(c.Profiles[0].Jobs) != 1 {
		t.Fatalf("the template should hold one profile with one job, and name it: %+v", c)
	}
}

func TestTemplateLoadsWithEveryKeyAtWork(t *testing.T) {
	c, d, problems := decodeText(uncommented())
	if len(problems) > 0 {
		t.Fatalf("%s\n%s", problems, uncommented())
	}
	if c.Profiles[0].Jobs[0].ArkFlow.Token.Prompt != true {
		t.Error("the last key of the template was not read")
	}
	// Three of the four words that name a secret's source can't stand together,
	// so keys are looked for in the text of the template.
	for key := range d.asked {
		if !regexp.MustCompile(`(?m)(^#? *(- )?|[{ ] ?)` + key + `:`).MatchString(Template()) {
			t.Errorf("the template does not show the key %s", key)
		}
	}
	if len(d.asked) < 45 {
		t.Errorf("only %d keys were looked for: a section of the template was not decoded", len(d.asked))
	}
}

func TestEveryKeyAndVariableIsDocumented(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, d, problems := decodeText(uncommented())
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var words []string
	for key := range d.asked {
		words = append(words, key)
	}
	for _, s := range settings {
		words = append(words, "--"+s.flag)
		if !s.silent {
			words = append(words, variableName(s.flag))
		}
	}
	for _, allowed := range [][]string{engines, stores, runtimes, mechanisms, outputs} {
		words = append(words, allowed...)
	}
	for _, word := range words {
		if !regexp.MustCompile("`" + regexp.QuoteMeta(word) + "[ `]").Match(page) {
			t.Errorf("docs/configuration.md does not mention `%s`", word)
		}
	}
}
