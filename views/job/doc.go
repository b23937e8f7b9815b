// Package job is the screen of one job's recovery: what is wrong first, then its
// recovery points with their verdicts now, then its partitions as bars to scale.
//
// It shows a JobOverview and judges nothing itself.
package job
