#!/usr/bin/env bash
# Makes the pictures in docs/images from the real console on the demo's incident,
# driven by the keyboard in tmux.
set -euo pipefail
cd "$(dirname "$0")/../.."
command -v tmux >/dev/null || { echo "shoot.sh: tmux is needed; install the package tmux" >&2; exit 1; }
out=docs/images
mkdir -p "$out"
tmp=$(mktemp -d)
socket=recoverctl-shots-$$
trap 'tmux -L "$socket" kill-server 2>/dev/null || true; rm -rf "$tmp"' EXIT
go build -o "$tmp/svg" ./test/screenshots

# picture NAME: what the pane shows now.
picture() { tmux -L "$socket" capture-pane -p -e -t shot | "$tmp/svg" "$columns" "$rows" >"$out/$1.svg"; }

# wait_for TEXT: until the pane shows it.
wait_for() {
  for _ in $(seq 200); do
    tmux -L "$socket" capture-pane -p -t shot | grep -qF -- "$1" && return
    sleep 0.1
  done
  echo "shoot.sh: the console never showed: $1" >&2
  tmux -L "$socket" capture-pane -p -t shot >&2
  exit 1
}

press() { tmux -L "$socket" send-keys -t shot "$@"; sleep 0.4; }

for size in 80x24 200x60; do
  columns=${size%x*} rows=${size#*x}
  tmux -L "$socket" -f /dev/null new-session -d -s shot -x "$columns" -y "$rows" \
    "env COLORTERM=truecolor TERM=tmux-256color bin/recoverctl demo"
  wait_for accepted
  picture "jobs-$size"
  press Enter; wait_for REJECTED
  picture "job-$size"
  for _ in 1 2 3; do press j; done
  press v; wait_for "RULE"
  picture "restore-check-$size"
  press q
  tmux -L "$socket" kill-server 2>/dev/null || true
  sleep 0.5
done
echo "wrote $(ls "$out" | wc -l) pictures to $out"
