#!/usr/bin/env bash
# Runs a command with real servers beside it:
#
#   run.sh go test -tags real ./...
#
# Every folder here that has an up.sh is one server; those with a file on-request beside it are started by name only.
# RECOVERCTL_REAL_WITH="kafka …" starts only the named ones, RECOVERCTL_REAL_WITH=all every one. An up.sh prints NAME=value lines,
# then READY, and stays until it is told to stop. The variables are exported, with RECOVERCTL_REAL=1, the command is run, everything
# is stopped, and the command's exit code is returned. The servers' own words go to standard error.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/recoverctl-real.XXXXXX")
servers=()
command_pid=

[ $# -gt 0 ] || { printf 'usage: run.sh COMMAND…\n' >&2; exit 2; }

finish() {
  local code=$?
  trap - EXIT
  trap '' TERM HUP INT
  if [ -n "$command_pid" ]; then
    kill -TERM "$command_pid" 2>/dev/null || true
    wait "$command_pid" 2>/dev/null || true
  fi
  for pid in "${servers[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
  for pid in "${servers[@]}"; do wait "$pid" 2>/dev/null || true; done
  rm -rf "$tmp"
  exit "$code"
}
trap finish EXIT
trap 'exit 143' TERM HUP
trap 'exit 130' INT

names=${RECOVERCTL_REAL_WITH:-}
if [ -z "$names" ] || [ "$names" = all ]; then
  wanted=$names names=
  for up in "$here"/*/up.sh; do
    [ "$wanted" = all ] || [ ! -e "$(dirname "$up")/on-request" ] || continue
    names+=" $(basename "$(dirname "$up")")"
  done
fi

began=$SECONDS
for name in $names; do
  [ -x "$here/$name/up.sh" ] || { printf 'run.sh: there is no server %s\n' "$name" >&2; exit 2; }
  "$here/$name/up.sh" >"$tmp/$name" </dev/null &
  servers+=($!)
done
i=0
for name in $names; do
  until grep -qx READY "$tmp/$name"; do
    kill -0 "${servers[$i]}" 2>/dev/null || { printf 'run.sh: %s did not start\n' "$name" >&2; exit 1; }
    sleep 0.1
  done
  i=$((i + 1))
  while IFS= read -r line; do
    [ "$line" = READY ] || export "${line?}"
  done <"$tmp/$name"
done
export RECOVERCTL_REAL=1
printf 'run.sh: ready after %d s:%s\n' $((SECONDS - began)) " $names" >&2

# In the background, so that a signal to this script is acted on at once; but with the signals of a foreground command, because a
# program that is started with SIGINT ignored goes on ignoring it.
(trap - INT QUIT && exec "$@") <&0 &
command_pid=$!
code=0
wait "$command_pid" || code=$?
command_pid=
exit "$code"
