#!/usr/bin/env bash
# Starts a real Flink session cluster, one JobManager and one TaskManager, on free ports of 127.0.0.1 and prints how to reach it,
# one NAME=value a line, then READY. It stays until it is told to stop (ctrl-c, SIGTERM, SIGHUP) or until the process that started
# it is gone; then nothing is left.
#
#   up.sh [VERSION]      default: what RECOVERCTL_TEST_FLINK_VERSION says, else the version in pom.xml
#
#   RECOVERCTL_TEST_FLINK              the REST address, as in http://127.0.0.1:20123
#   RECOVERCTL_TEST_FLINK_VERSION      of the cluster
#   RECOVERCTL_TEST_FLINK_JAR          a job that writes recovery markers and fails on demand (job/src, see MarkerJob)
#   RECOVERCTL_TEST_FLINK_READBACK     a Java class path with the programs of readback/src, which read snapshots by Flink's own classes;
#                                      Flink 2 only
#   RECOVERCTL_TEST_FLINK_CHECKPOINTS  an empty folder for its checkpoints
#   RECOVERCTL_TEST_FLINK_SAVEPOINTS   the folder where the cluster puts savepoints
#
# RECOVERCTL_TEST_KEEP=1 keeps the folder with logs and data.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
server=flink
# shellcheck source=../common.sh
. "$here/../common.sh"

compile_job() {
  local libs=$1 out=$2
  say "compiling the job"
  mkdir "$out/classes"
  find "$here/job/src" -name '*.java' -print0 | xargs -0 javac -nowarn -encoding UTF-8 --release 11 -cp "$libs/*" -d "$out/classes" ||
    die "the job does not compile"
  jar --create --file "$out/job.jar" --main-class recoverctl.MarkerJob -C "$out/classes" .
  rm -r "$out/classes"
}

compile_readback() {
  local libs=$1 job=$2 out=$3
  say "compiling the programs that read snapshots back"
  mkdir "$out/classes"
  find "$here/readback/src" -name '*.java' -print0 | xargs -0 javac -nowarn -encoding UTF-8 --release 17 -cp "$libs/*:$job" -d "$out/classes" ||
    die "the programs that read snapshots back do not compile"
  jar --create --file "$out/readback.jar" -C "$out/classes" .
  rm -r "$out/classes"
}

# sources FOLDER prints the sources in it, in one order.
sources() { find "$1" -name '*.java' -print0 | LC_ALL=C sort -z | xargs -0 cat; }

# launch NAME MAIN-CLASS ARGUMENT…: starts one JVM of the cluster. A JVM outside Flink's own scripts has to open the JDK's packages
# by itself. Flink's option for the time that remoting may take to start does not reach Pekko, which gives it ten seconds.
launch() {
  local name=$1 main=$2 hold=() opens=() package
  shift 2
  for package in util lang net io nio time; do opens+=("--add-opens=java.base/java.$package=ALL-UNNAMED"); done
  # Where setpriv is there, the kernel itself ends the JVM should this script be killed.
  command -v setpriv >/dev/null && hold=(setpriv --pdeathsig TERM)
  FLINK_CONF_DIR=$dir/conf "${hold[@]}" java "${opens[@]}" -Xmx320m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    -Dpekko.remote.classic.startup-timeout=150s \
    -Dlog4j2.configurationFile="file:$here/log4j2.properties" -cp "$libs/*" "$main" --configDir "$dir/conf" "$@" \
    >"$dir/$name.log" 2>&1 </dev/null &
  pids+=($!)
}

# start starts both JVMs on new ports; rest is then the port of REST.
start() {
  local ports text memory=() part
  read -r -a ports <<<"$(free_ports 2)"
  rest=${ports[0]}
  mkdir -p "$dir/conf" "$dir/upload" "$dir/tmp" "$dir/checkpoints" "$dir/savepoints"
  text=$(cat "$here/config.yaml")
  text=${text//@DIR@/$dir} text=${text//@REST@/${ports[0]}} text=${text//@RPC@/${ports[1]}}
  printf '%s\n' "$text" >"$dir/conf/config.yaml"
  # Flink's scripts compute a TaskManager's memory; without them every part has to be given.
  for part in network.min=64mb network.max=64mb task.heap.size=128mb managed.size=64mb task.off-heap.size=32mb framework.heap.size=128mb \
    framework.off-heap.size=128mb jvm-metaspace.size=128mb jvm-overhead.min=64mb jvm-overhead.max=64mb; do
    memory+=(-D "taskmanager.memory.$part")
  done
  launch jobmanager org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint
  launch taskmanager org.apache.flink.runtime.taskexecutor.TaskManagerRunner -D taskmanager.cpu.cores=2.0 "${memory[@]}"
}

# ready waits until REST answers and the TaskManager is known to it. 1: the JobManager ended because a port was taken meanwhile.
ready() {
  local i
  for ((i = 0; i < 2400; i++)); do
    case $(curl -s -m 2 "http://127.0.0.1:$rest/overview" || true) in *'"taskmanagers":1'*) return 0 ;; esac
    if ! kill -0 "${pids[0]}" 2>/dev/null; then
      grep -qi -e 'address already in use' -e 'Could not start rest endpoint on any port' "$dir/jobmanager.log" && return 1
      tail -n 20 "$dir/jobmanager.log" >&2
      die "the JobManager ended before it served"
    fi
    if ! kill -0 "${pids[1]}" 2>/dev/null; then
      tail -n 20 "$dir/taskmanager.log" >&2
      die "the TaskManager ended before it served"
    fi
    sleep 0.2
  done
  tail -n 20 "$dir/jobmanager.log" "$dir/taskmanager.log" >&2
  die "the cluster did not serve within eight minutes"
}

main() {
  local version=${1:-${RECOVERCTL_TEST_FLINK_VERSION:-}} libs rest job readback attempt
  need_java openjdk-17-jdk-headless
  need javac openjdk-17-jdk-headless
  need mvn maven
  need curl curl
  [ -n "$version" ] || version=$(sed -n 's|.*<flink.version>\(.*\)</flink.version>.*|\1|p' "$here/pom.xml")
  on_exit
  libs=$(cached flink "$version-$(hash <"$here/pom.xml")" fetch_jars -Dflink.version="$version")
  job=$(cached flink-job "$version-$({ cat "$here/pom.xml"; sources "$here/job/src"; } | hash)" compile_job "$libs")
  readback=
  [ "${version%%.*}" -lt 2 ] || readback=$(cached flink-readback \
    "$version-$({ cat "$here/pom.xml"; sources "$here/job/src"; sources "$here/readback/src"; } | hash)" compile_readback "$libs" "$job/job.jar")
  dir=$(mktemp -d "${TMPDIR:-/tmp}/recoverctl-flink.XXXXXX")

  for attempt in 1 2 3; do
    start
    ready && break
    [ "$attempt" -lt 3 ] || die "no free ports were found in three attempts"
    say "a port was taken meanwhile: trying others"
    stop
  done
  cat <<END
RECOVERCTL_TEST_FLINK=http://127.0.0.1:$rest
RECOVERCTL_TEST_FLINK_VERSION=$version
RECOVERCTL_TEST_FLINK_JAR=$job/job.jar
RECOVERCTL_TEST_FLINK_READBACK=${readback:+$readback/readback.jar:$job/job.jar:$libs/*}
RECOVERCTL_TEST_FLINK_CHECKPOINTS=$dir/checkpoints
RECOVERCTL_TEST_FLINK_SAVEPOINTS=$dir/savepoints
END
  printf 'READY\n'

  while kill -0 "$parent" 2>/dev/null; do
    kill -0 "${pids[0]}" 2>/dev/null || { tail -n 20 "$dir/jobmanager.log" >&2; die "the JobManager ended by itself"; }
    kill -0 "${pids[1]}" 2>/dev/null || { tail -n 20 "$dir/taskmanager.log" >&2; die "the TaskManager ended by itself"; }
    sleep 1 & wait $! || true
  done
}

main "$@"
