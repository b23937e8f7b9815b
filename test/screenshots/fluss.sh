#!/usr/bin/env bash
# Makes the pictures in docs/images of the screens of a job on Apache Fluss, from the
# real console on the demo's cluster, driven by the keyboard in tmux.
set -euo pipefail
cd "$(dirname "$0")/../.."
. test/screenshots/session.sh

for size in 80x24 120x40 200x60; do
  open_console "$size" demo --fluss
  wait_for "order-agent"; press Enter; wait_for chk-58
  picture fluss-job
  press c; wait_for "all read"; wait_for "RUNS AGAIN"
  picture fluss-calls
  press b; wait_for "MARK"
  picture fluss-records
  press Escape Escape
  command_line buckets; wait_for "every bucket has a leader"
  picture fluss-buckets
  press Escape
  command_line producers; wait_for "RESTART"
  picture fluss-producers
  command_line "producer order-totals"; wait_for "rows to undo"
  picture fluss-producer
  press p; wait_for "producer-delete plan"
  picture fluss-plan
  command_line operate; wait_for "changes are possible"
  press S; wait_for "┌ Accept"; accept
  wait_for "Reason"; sleep 0.5
  picture fluss-confirm
  confirm "sink was rebuilt INC-2240" "$(shown | grep -oE 'demo/order-totals [0-9a-f]{8}' | head -1)"
  for number in 1 2 3; do wait_for "step $number waits for you:"; sleep 0.8; press Enter; done
  wait_for "step 4 waits for you,"
  picture fluss-apply
  sleep 0.8; press A; wait_for "step 5 waits for you:"; sleep 0.8; press Enter
  wait_for "Receipt"
  picture fluss-receipt
  close_console
done
told
