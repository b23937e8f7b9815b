// Package findings is the screen of everything about a job that is worth an
// operator's attention: severity, cause, what to do next, numbers and addresses,
// the worst first.
//
// It shows the findings of a JobOverview and finds nothing itself.
package findings
