#!/usr/bin/env bash
# Makes the pictures of a scan in docs/images: the Calls screen in tmux at 200×60
# while a real broker's topic of a million records is read, and afterwards. The same
# run shows that each key has its effect meanwhile and what memory is used.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v tmux >/dev/null || { echo "scan.sh: tmux is needed; install the package tmux" >&2; exit 1; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
RECOVERCTL_SCAN_PICTURES=$tmp RECOVERCTL_REAL_WITH=kafka test/real/run.sh \
  go test -tags 'real tmux' -count 1 -v -run '^TestMovingThroughAScan$' ./cmd/recoverctl
for name in scan-running scan-ended scan-filtered; do
  go run ./test/screenshots 200 60 <"$tmp/$name.txt" >"docs/images/$name-200x60.svg"
done
