#!/usr/bin/env bash
# Prints a pattern for go test -run: the tests that servers change. They are those
# of files with the tag real, and all of the packages in which the tag gives other
# tests other servers (there is a file with !real). The rest run without it.
set -euo pipefail
cd "$(dirname "$0")/../.."
tagged() { grep -rl --include='*_test.go' "^//go:build $1" .; }
{
  tagged real
  tagged '!real' | while read -r off; do
    find "$(dirname "$off")" -maxdepth 1 -name '*_test.go'
  done
} | xargs sed -n 's/^func \(Test[A-Za-z0-9_]*\)(.*/\1/p' | sort -u | paste -sd '|' - | sed 's/.*/^(&)$/'
