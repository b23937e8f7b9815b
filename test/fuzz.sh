#!/usr/bin/env bash
# fuzz.sh TIME: runs every fuzz target of the module for TIME each (as in 5s), two
# at a time with one worker each, which is quicker than one with two: most of a
# short run is compiling. Stops at the first crash; go test has then written its
# input to testdata/fuzz, which belongs in the repository once the bug is
# understood. Inputs are not minimized: with large seeds that takes longer than the
# fuzzing.
set -euo pipefail
export FUZZ_TIME=${1:?usage: fuzz.sh TIME}
cd "$(dirname "$0")/.."

# fuzz FILE:NAME runs one target; 255 makes xargs stop. At the end of its time Go
# before 1.27 may report the end itself as a failure (go.dev/issue/75804), without a
# failing input and with these words alone: then it is run again, twice at most.
fuzz() {
  local folder name=${1#*:} try said
  folder=$(dirname "${1%%:*}")
  for try in 1 2 3; do
    echo "fuzz $name in $folder for $FUZZ_TIME"
    said=$(go test -run '^$' -fuzz "^$name\$" -fuzztime "$FUZZ_TIME" -fuzzminimizetime 1x -parallel 1 "./$folder" 2>&1) && { echo "$said"; return; }
    echo "$said"
    [ "$(sed -n "/^--- FAIL: $name /,/^FAIL\$/p" <<<"$said" | sed '1d;$d' | tr -d ' ')" = contextdeadlineexceeded ] || exit 255
    echo "that was the end of its time, and no failure"
  done
  exit 255
}
export -f fuzz

targets=$(grep -rEo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's#^\./##; s/func //' | sort)
[ -n "$targets" ] || { echo "no fuzz target was found" >&2; exit 1; }
xargs -P 2 -I{} bash -c 'fuzz {}' <<<"$targets"
echo "$(wc -l <<<"$targets") fuzz targets, no crash"
