// Package arkhub asks an ArkFlow hub about its nodes, streams and jobs over its
// HTTP API: what runs, what was asked for, which checkpoints, savepoints and
// upgrades are on record, and what happened.
//
// Three generations of that API were read: hubs without jobs, those of the engine's
// branch v1 with jobs, and the newer ones that also keep upgrades. They are told
// apart by probing, see [Client.Generation]; the API of a single engine without a
// hub answers in the same shapes and is the fourth.
//
// It only asks: every request is a GET of package httpread. It has no opinion
// about what an answer means, and it follows an address inside an answer in one
// case only: a standby that names its leader, once, and never from https to http.
//
// Generations differ in what they say. A fact that an answer does not hold is an
// unset [Fact], never a zero; unknown fields and unknown words are let pass. A row
// that lacks what makes it a row is left out and counted.
//
// Strings are kept exactly as they came: who shows them passes them through
// package safetext first. What a hub says in a refusal is made safe here, without
// the token even where the hub repeats it.
package arkhub
