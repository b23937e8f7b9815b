// Package flinktest gives tests a Flink cluster: one that answers with what real
// clusters once answered, or the real one that test/real/run.sh has started.
//
// Only tests use it. It starts and ends jobs, which nothing that is tested here
// can do.
package flinktest
