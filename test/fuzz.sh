#!/usr/bin/env bash
# fuzz.sh TIME: runs every fuzz target of the module for TIME each (as in 5s).
# Stops at the first crash; go test has then written its input to testdata/fuzz,
# which belongs in the repository once the bug is understood. Inputs are not
# minimized: with large seeds that takes longer than the fuzzing.
set -euo pipefail
time=${1:?usage: fuzz.sh TIME}
cd "$(dirname "$0")/.."
count=0
while IFS=: read -r file name; do
  echo "fuzz $name in $(dirname "$file") for $time"
  go test -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 1x "./$(dirname "$file")"
  count=$((count + 1))
done < <(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's#^\./##; s/func //' | sort)
[ "$count" -gt 0 ] || { echo "no fuzz target was found" >&2; exit 1; }
echo "$count fuzz targets, no crash"
