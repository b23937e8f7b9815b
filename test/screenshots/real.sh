#!/usr/bin/env bash
# Makes the pictures in docs/images that need real servers: the Calls screen while a
# broker's topic of a million records is read, and a Flink job that is rolled back.
# The same runs show that each key has its effect meanwhile and what memory is used.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v tmux >/dev/null || { echo "real.sh: tmux is needed; install the package tmux" >&2; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
RECOVERCTL_PICTURES=$tmp RECOVERCTL_REAL_WITH="kafka flink" test/real/run.sh \
  go test -tags 'real tmux' -count 1 -v -run "${1:-^(TestMovingThroughAScan|TestWalkingThroughARollback)$}" ./cmd/recoverctl
for file in "$tmp"/*.txt; do
  name=$(basename "$file" .txt)
  size=${name##*-}
  go run ./test/screenshots "${size%x*}" "${size#*x}" <"$file" >"docs/images/$name.svg"
done
