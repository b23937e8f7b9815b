#!/usr/bin/env bash
# Makes the pictures in docs/images of the screens of a profile on ArkFlow, from the
# real console on the demo's hub, driven by the keyboard in tmux.
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/screenshots/session.sh

# go_to NAME TEXT: open a job of the profile, and wait until it shows the text.
go_to() {
  press :; type_in "job $1"; press Enter
  wait_for "$2"
}

for size in 80x24 120x40 200x60; do
  open_console "$size" demo --arkflow
  wait_for "log alone"; wait_for FAILED; wait_for DEGRADED
  picture arkflow-jobs
  go_to payments-agg "DEGRADED"; wait_for "RECOVERY POINT"
  picture arkflow-degraded
  press j j j j j j j Space G =; wait_for "WHAT DIFFERS"; wait_for "beyond its positions"
  picture arkflow-compare
  press Escape Escape
  go_to orders-count "RECOVERY POINT"; press :; type_in checkpoint; press Enter; wait_for "What it changes"
  picture arkflow-checkpoint-plan
  press Escape Escape
  go_to refunds-dedup "RESTORES IT"; press j; wait_for "it asks less"
  picture arkflow-job
  press v; wait_for "EVIDENCE"
  picture arkflow-restore-check
  press Escape f; wait_for "WHAT IS SO"
  picture arkflow-findings
  press Escape Escape
  press :; type_in hub; press Enter; wait_for "PROTECTED BY"
  picture arkflow-hub
  press Escape
  press :; type_in "wal orders-eu"; press Enter; wait_for "cursor 4"
  picture arkflow-wal
  press Escape
  go_to invoices "RECOVERY POINT"; press j; wait_for "savepoint-"
  press u; wait_for "What it changes"
  picture arkflow-plan
  press :; type_in operate; press Enter; wait_for "changes are possible"
  press S; wait_for "Reason"; sleep 0.5
  picture arkflow-confirm
  confirm "bad deploy INC-2251" "$(shown | grep -oE 'demo/invoices [0-9a-f]{8}' | head -1)"
  for step in 1:Enter 2:Enter 3:A 4:Enter 5:A 6:A 7:Enter 8:Enter; do
    wait_for "step ${step%:*} waits for you"; sleep 0.8
    if [ "$step" = 6:A ]; then picture arkflow-apply; fi
    press "${step#*:}"
  done
  for _ in 1 2 3 4 5 6; do shown | grep -qF Receipt && break; sleep 5; done # the next checkpoint is the proof
  wait_for "Receipt"
  picture arkflow-receipt
  close_console
done
told
