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
picture() { tmux -L "$socket" capture-pane -p -e -t shot | "$tmp/svg" "$columns" "$rows" >"$out/$1-${columns}x$rows.svg"; }

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

# press KEY…: one after the other, as a person types.
press() {
  for key in "$@"; do
    tmux -L "$socket" send-keys -t shot "$key"
    sleep 0.3
  done
}

# type_in TEXT: letter by letter.
type_in() {
  for ((i = 0; i < ${#1}; i++)); do
    tmux -L "$socket" send-keys -t shot -l "${1:i:1}"
    sleep 0.05
  done
}

# accept ticks every warning after it was on the screen.
accept() {
  local n
  n=$(tmux -L "$socket" capture-pane -p -t shot | grep -oE 'Accept [0-9]+ warning' | grep -oE '[0-9]+')
  sleep 0.5
  press PageDown PageDown
  for ((w = 0; w < n; w++)); do press Tab Space; done
  press Tab Enter
}

# confirm PHRASE: the whole way to the button, and the button.
confirm() {
  press PageDown PageDown PageDown Tab
  type_in "disk pressure INC-2231"
  press Tab
  type_in "$1"
  press Tab Space
}

for size in 80x24 120x40 200x60; do
  columns=${size%x*} rows=${size#*x}
  tmux -L "$socket" -f /dev/null new-session -d -s shot -x "$columns" -y "$rows" -c "$tmp" \
    "env COLORTERM=truecolor TERM=tmux-256color LANG=C.UTF-8 $PWD/bin/recoverctl demo"
  wait_for "in force"
  picture jobs
  press Enter; wait_for chk-42
  picture job
  press space j space =; wait_for "WHAT DIFFERS"
  picture compare
  press Escape o; wait_for "CLEANUP"
  picture operations
  press p; wait_for "STAYS RESTORABLE"
  picture plan
  press Escape Escape j j j v; wait_for "REJECTED: partition"
  picture restore-check
  press Escape Enter; wait_for "OPERATOR"
  picture recovery-point
  press Escape f; wait_for "SEVERITY"
  picture findings
  press Escape g c; wait_for "all read"; wait_for "RUNS AGAIN"
  picture calls
  press j; wait_for "reconciler"; press Enter; wait_for "generation"
  picture call
  press b; wait_for "MARK"
  picture records
  press Enter; wait_for "VALUE"
  picture record
  press Escape Escape Escape Escape o; wait_for "CLEANUP"
  press p; wait_for "STILL IN THE LOG"
  press :; type_in operate; press Enter; wait_for "changes are possible"
  press S; wait_for "┌ Accept"; accept
  wait_for "Reason"; sleep 0.5
  picture confirm
  confirm "$(tmux -L "$socket" capture-pane -p -t shot | grep -oE 'demo/action-state [0-9a-f]{8}' | head -1)"
  for number in 1 2 3 4 5 6b; do wait_for "step $number waits for you:"; sleep 0.8; press Enter; done
  wait_for "step 8 waits for you,"
  picture apply
  sleep 0.8; press A; wait_for "step 9 waits for you:"; sleep 0.8; press Enter; wait_for "step 10 waits for you,"; sleep 0.8; press A
  wait_for "Receipt"
  picture receipt
  tmux -L "$socket" kill-server
  sleep 0.3
done
echo "wrote $(find "$out" -name '*.svg' | wc -l) pictures to $out"
