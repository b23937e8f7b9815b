package arkhubtest_test

import (
	"os"
	"strings"

	"github.com/recoverctl/recoverctl/internal/secret"
)

func secretOf(text string) secret.Value { return secret.New(text) }

func readURI(uri string) ([]byte, error) { return os.ReadFile(strings.TrimPrefix(uri, "file://")) }
