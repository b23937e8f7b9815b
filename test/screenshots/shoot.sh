#!/usr/bin/env bash
# Makes the pictures in docs/images from the real console on the demo's incident,
# driven by the keyboard in tmux.
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/screenshots/session.sh

for size in 80x24 120x40 200x60; do
  open_console "$size" demo
  wait_for "in force"
  picture jobs
  press Enter; wait_for chk-42
  picture job
  press space j space =; wait_for "WHAT DIFFERS"
  picture compare
  press Escape o; wait_for "CLEANUP"
  picture operations
  press p; wait_for "STILL IN THE LOG"
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
  command_line operate; wait_for "changes are possible"
  press S; wait_for "┌ Accept"; accept
  wait_for "Reason"; sleep 0.5
  picture confirm
  confirm "disk pressure INC-2231" "$(shown | grep -oE 'demo/action-state [0-9a-f]{8}' | head -1)"
  for number in 1 2 3 4 5 6b; do wait_for "step $number waits for you:"; sleep 0.8; press Enter; done
  wait_for "step 8 waits for you,"
  picture apply
  sleep 0.8; press A; wait_for "step 9 waits for you:"; sleep 0.8; press Enter; wait_for "step 10 waits for you,"; sleep 0.8; press A
  wait_for "Receipt"
  picture receipt
  close_console
done
told
