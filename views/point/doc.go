// Package point is the screen of one recovery point as its files say it:
// operators, markers by subtask, the merged marker and replay window per
// partition, referenced files, and the checks of all that.
//
// It shows what was read. Whether a restore would be accepted is said by the
// restore check, one key away.
package point
