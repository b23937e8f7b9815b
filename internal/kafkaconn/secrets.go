package kafkaconn

import (
	"context"
	"sync"

	"github.com/recoverctl/recoverctl/internal/secret"
)

// SecretsFrom fetches secrets from where a profile says that they are, anew
// for every login. A source that is not configured gives an empty secret. What
// a person typed at a prompt is kept, so that nobody is asked in the middle of
// something else.
func SecretsFrom(password, sessionToken secret.Source, prompter secret.Prompter) SecretsFunc {
	first, second := &asked{source: password, prompter: prompter}, &asked{source: sessionToken, prompter: prompter}
	return func(ctx context.Context) (Secrets, error) {
		var secrets Secrets
		var err error
		if secrets.Password, err = first.fetch(ctx); err != nil {
			return Secrets{}, err
		}
		if secrets.SessionToken, err = second.fetch(ctx); err != nil {
			return Secrets{}, err
		}
		return secrets, nil
	}
}

// asked is one source, and what was typed if it is a prompt.
type asked struct {
	source   secret.Source
	prompter secret.Prompter

	mu    sync.Mutex // held while a person types
	typed secret.Value
}

func (a *asked) fetch(ctx context.Context) (secret.Value, error) {
	if a.source.IsZero() {
		return secret.Value{}, nil
	}
	if !a.source.Prompt {
		return a.source.Resolve(ctx, a.prompter)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.typed.IsEmpty() {
		value, err := a.source.Resolve(ctx, a.prompter)
		if err != nil {
			return secret.Value{}, err
		}
		a.typed = value
	}
	return a.typed, nil
}
