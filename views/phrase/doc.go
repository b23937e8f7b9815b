// Package phrase is how screens say the facts of package inspect in words:
// verdicts, ages, names of recovery points, and text cut or wrapped to a width.
//
// It decides nothing and draws nothing. What it writes is safe for a terminal,
// whatever it was made from.
package phrase
