#!/usr/bin/env bash
# Starts real Kafka brokers on free ports of 127.0.0.1 and prints how to reach them, one NAME=value a line, then READY.
# It stays until it is told to stop (ctrl-c, SIGTERM, SIGHUP) or until the process that started it is gone; then nothing is left.
#
#   up.sh [plain] [secure] [trio]      default: plain and secure
#
#   RECOVERCTL_TEST_KAFKA             the plain broker: no security, no ACLs
#   RECOVERCTL_TEST_KAFKA_TRIO        three brokers of one cluster, separated by commas, to be killed and started again
#   RECOVERCTL_TEST_KAFKA_TRIO_DIR    folder with 1, 2, 3, one for each; see below
#   RECOVERCTL_TEST_KAFKA_ADMIN       the secure broker, plain text, everything allowed
#   RECOVERCTL_TEST_KAFKA_SASL_TLS    the secure broker, password over TLS
#   RECOVERCTL_TEST_KAFKA_SASL_PLAIN  the secure broker, password over plain text
#   RECOVERCTL_TEST_KAFKA_TLS         the secure broker, TLS
#   RECOVERCTL_TEST_KAFKA_MTLS        the secure broker, TLS with a client certificate
#   RECOVERCTL_TEST_KAFKA_OAUTH       the secure broker, a token over TLS; tokens need no signature
#   RECOVERCTL_TEST_KAFKA_CERTS       folder with ca.pem, client.pem, client.key, … (see certs/main.go)
#   RECOVERCTL_TEST_KAFKA_USER, …_PASSWORD              a user without any right
#   RECOVERCTL_TEST_KAFKA_ADMIN_USER, …_ADMIN_PASSWORD  a user with every right
#
# Of the three, each has in its folder: broker.log; and pid while it runs, which a test may signal. A test that wants a broker that
# it ended started again makes the file `start` there once pid is gone, and waits for pid to be there again.
#
# RECOVERCTL_TEST_KEEP=1 keeps the folder with logs and data.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
server=kafka
# shellcheck source=../common.sh
. "$here/../common.sh"
heap=256m
admin_user=admin admin_password=admin-secret
user=viewer password=viewer-secret

# cluster_id prints a random id in Kafka's form: 16 bytes, base64 for URLs. One that starts with a dash reads as an option.
cluster_id() {
  local id=-
  while [ "${id:0:1}" = - ]; do id=$(head -c 16 /dev/urandom | base64 | tr '+/' '-_' | tr -d '='); done
  printf '%s\n' "$id"
}

jvm() { java -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile="file:$here/log4j2.properties" "$@"; }

# settings NAME KEY=VALUE…: writes NAME's properties with every @KEY@ replaced.
settings() {
  local name=$1 pair text
  shift
  text=$(cat "$here/common.properties" "$here/$name.properties")
  for pair in "$@"; do text=${text//"@${pair%%=*}@"/"${pair#*=}"}; done
  mkdir -p "$dir/$name"
  printf '%s\n' "$text" >"$dir/$name/server.properties"
}

# format NAME JARS ID FORMAT-ARGUMENT…: makes the broker's empty storage, of the cluster with this id.
format() {
  local name=$1 jars=$2 id=$3
  shift 3
  jvm -Xmx96m -cp "$jars/*" kafka.tools.StorageTool format -t "$id" -c "$dir/$name/server.properties" "$@" >"$dir/$name/format.log" 2>&1 ||
    { cat "$dir/$name/format.log" >&2; die "the storage of the $name broker could not be formatted"; }
}

# launch NAME JARS: starts the broker. Its pid is in NAME/pid.
launch() {
  local name=$1 jars=$2 hold=()
  # Where setpriv is there, the kernel itself ends the broker should this script be killed.
  command -v setpriv >/dev/null && hold=(setpriv --pdeathsig TERM)
  "${hold[@]}" java -Xms$heap -Xmx$heap -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -Dlog4j2.configurationFile="file:$here/log4j2.properties" \
    -cp "$jars/*" kafka.Kafka "$dir/$name/server.properties" >"$dir/$name/broker.log" 2>&1 </dev/null &
  case $name in
    trio/*) disown $! ;; # a test may end it, which is not the shell's to tell; stop_trio ends what then runs
    *) pids+=($!) ;;
  esac
  printf '%s\n' $! >"$dir/$name/pid.new"
  mv "$dir/$name/pid.new" "$dir/$name/pid"
}

# ready NAME: waits until the broker says that it serves. 1: it ended because a port was taken meanwhile.
ready() {
  local log=$dir/$1/broker.log pid i
  pid=$(cat "$dir/$1/pid")
  for ((i = 0; i < 4800; i++)); do
    grep -q 'Kafka Server started' "$log" && return 0
    if ! kill -0 "$pid" 2>/dev/null; then
      grep -qi 'address already in use' "$log" && return 1
      tail -n 20 "$log" >&2
      die "the $1 broker ended before it served"
    fi
    sleep 0.1
  done
  tail -n 20 "$log" >&2
  die "the $1 broker did not serve within eight minutes"
}

start_plain() {
  local ports
  read -r -a ports <<<"$(free_ports 2)"
  settings plain DIR="$dir/plain" ADMIN="${ports[0]}" CONTROLLER="${ports[1]}"
  format plain "$1" "$(cluster_id)"
  launch plain "$1"
  printf 'RECOVERCTL_TEST_KAFKA=127.0.0.1:%s\n' "${ports[0]}" >"$dir/plain/env"
}

start_secure() {
  local ports scram=() mechanism
  read -r -a ports <<<"$(free_ports 7)"
  mkdir -p "$dir/secure/certs"
  "$dir/certs" "$dir/secure/certs"
  settings secure DIR="$dir/secure" CERTS="$dir/secure/certs" CONTROLLER="${ports[0]}" ADMIN="${ports[1]}" \
    SASLTLS="${ports[2]}" SASLPLAIN="${ports[3]}" TLS="${ports[4]}" MTLS="${ports[5]}" OAUTH="${ports[6]}" \
    ADMIN_USER=$admin_user ADMIN_PASSWORD=$admin_password USER=$user PASSWORD=$password
  for mechanism in SCRAM-SHA-256 SCRAM-SHA-512; do
    scram+=(--add-scram "$mechanism=[name=$admin_user,password=$admin_password]"
      --add-scram "$mechanism=[name=$user,password=$password]")
  done
  format secure "$1" "$(cluster_id)" "${scram[@]}"
  launch secure "$1"
  cat >"$dir/secure/env" <<END
RECOVERCTL_TEST_KAFKA_ADMIN=127.0.0.1:${ports[1]}
RECOVERCTL_TEST_KAFKA_SASL_TLS=127.0.0.1:${ports[2]}
RECOVERCTL_TEST_KAFKA_SASL_PLAIN=127.0.0.1:${ports[3]}
RECOVERCTL_TEST_KAFKA_TLS=127.0.0.1:${ports[4]}
RECOVERCTL_TEST_KAFKA_MTLS=127.0.0.1:${ports[5]}
RECOVERCTL_TEST_KAFKA_OAUTH=127.0.0.1:${ports[6]}
RECOVERCTL_TEST_KAFKA_CERTS=$dir/secure/certs
RECOVERCTL_TEST_KAFKA_USER=$user
RECOVERCTL_TEST_KAFKA_PASSWORD=$password
RECOVERCTL_TEST_KAFKA_ADMIN_USER=$admin_user
RECOVERCTL_TEST_KAFKA_ADMIN_PASSWORD=$admin_password
END
}

# The three are broker and controller each, so two of them are enough to go on. A single one waits for a second.
start_trio() {
  local ports voters brokers id i formats=()
  read -r -a ports <<<"$(free_ports 6)"
  voters=1@127.0.0.1:${ports[3]},2@127.0.0.1:${ports[4]},3@127.0.0.1:${ports[5]}
  brokers=127.0.0.1:${ports[0]},127.0.0.1:${ports[1]},127.0.0.1:${ports[2]}
  id=$(cluster_id)
  for i in 1 2 3; do
    settings trio DIR="$dir/trio/$i" NODE=$i ADMIN="${ports[i - 1]}" CONTROLLER="${ports[i + 2]}" VOTERS=$voters
    mkdir -p "$dir/trio/$i"
    mv "$dir/trio/server.properties" "$dir/trio/$i"
    format "trio/$i" "$1" "$id" &
    formats+=($!)
  done
  for i in "${formats[@]}"; do wait "$i"; done
  for i in 1 2 3; do launch "trio/$i" "$1"; done
  cat >"$dir/trio/env" <<END
RECOVERCTL_TEST_KAFKA_TRIO=$brokers
RECOVERCTL_TEST_KAFKA_TRIO_DIR=$dir/trio
END
}

# stop_trio ends what runs of the three, by force: their storage goes too.
stop_trio() {
  local pid i
  for pid in "$dir"/trio/*/pid; do
    [ -e "$pid" ] || continue
    pid=$(cat "$pid")
    kill -KILL "$pid" 2>/dev/null || continue
    for ((i = 0; i < 50; i++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  done
}

ready_trio() {
  local i
  for i in 1 2 3; do ready "trio/$i" || return 1; done
}

# tend_trio forgets the pid of what has ended, before another process gets it, and starts what a test wants back.
tend_trio() {
  local i
  for i in 1 2 3; do
    if [ -e "$dir/trio/$i/pid" ]; then
      kill -0 "$(cat "$dir/trio/$i/pid")" 2>/dev/null || rm "$dir/trio/$i/pid"
    elif [ -e "$dir/trio/$i/start" ]; then
      rm "$dir/trio/$i/start"
      mv "$dir/trio/$i/broker.log" "$dir/trio/$i/broker.log.$(date +%s%N)"
      launch "trio/$i" "$1"
    fi
  done
}

stop() { stop_trio; end_all; }

main() {
  local which=("$@") jars name attempt
  [ "${#which[@]}" -gt 0 ] || which=(plain secure)
  for name in "${which[@]}"; do
    case $name in plain | secure | trio) ;; *) die "there is no broker $name: say plain, secure or trio" ;; esac
  done
  need_java openjdk-17-jre-headless
  need mvn maven
  need go golang
  on_exit
  jars=$(cached kafka "$(hash <"$here/pom.xml")" fetch_jars)
  dir=$(mktemp -d "${TMPDIR:-/tmp}/recoverctl-kafka.XXXXXX")
  case " ${which[*]} " in *" secure "*) (cd "$here" && go build -o "$dir/certs" ./certs) ;; esac

  for name in "${which[@]}"; do "start_$name" "$jars"; done
  for name in "${which[@]}"; do
    for attempt in 1 2 3; do
      if [ "$name" = trio ]; then ready_trio && break; else ready "$name" && break; fi
      [ "$attempt" -lt 3 ] || die "the $name broker found no free ports in three attempts"
      say "a port of the $name broker was taken meanwhile: trying others"
      [ "$name" != trio ] || stop_trio
      rm -rf "${dir:?}/$name"
      "start_$name" "$jars"
    done
    cat "$dir/$name/env"
  done
  printf 'READY\n'

  while kill -0 "$parent" 2>/dev/null; do
    for name in "${which[@]}"; do
      [ "$name" = trio ] && { tend_trio "$jars"; continue; }
      kill -0 "$(cat "$dir/$name/pid")" 2>/dev/null || { tail -n 20 "$dir/$name/broker.log" >&2; die "the $name broker ended by itself"; }
    done
    sleep 0.2 & wait $! || true
  done
}

main "$@"
