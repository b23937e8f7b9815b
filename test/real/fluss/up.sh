#!/usr/bin/env bash
# Starts a real Fluss cluster (ZooKeeper, a coordinator, two tablet servers) on free ports of 127.0.0.1 and prints how to reach it, one
# NAME=value a line, then READY. It stays until it is told to stop (ctrl-c, SIGTERM, SIGHUP) or until the process that started it is
# gone; then nothing is left.
#
#   RECOVERCTL_TEST_FLUSS                the listeners that ask for no login: the coordinator's, then the tablet servers', with commas
#   RECOVERCTL_TEST_FLUSS_SASL           those that ask for one
#   RECOVERCTL_TEST_FLUSS_USER, …_PASSWORD              a user without any right
#   RECOVERCTL_TEST_FLUSS_ADMIN_USER, …_ADMIN_PASSWORD  a user with every right
#   RECOVERCTL_TEST_FLUSS_DIR            folder with coordinator, tablet0 and tablet1, one for each process, and remote; see below
#   RECOVERCTL_TEST_FLUSS_ZOOKEEPER      the cluster's ZooKeeper, below whose node /fluss it keeps its own
#   RECOVERCTL_TEST_FLUSS_SERVER         the class path of the servers, ZooKeeper's own client among them
#   RECOVERCTL_TEST_FLUSS_TOOL           the class path of FlussTool (tool/src), which speaks to the cluster through Fluss's own client
#
# A process has in its folder: log; and pid while it runs, which a test may signal. A test that wants one that it ended started again
# makes the file `start` there once pid is gone, and waits for pid to be there again.
#
# RECOVERCTL_BENCH_SEGMENT is the size of the servers' segments: 32kb, for tests; something like 1gb for measuring.
# RECOVERCTL_TEST_KEEP=1 keeps the folder with logs and data.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
server=fluss
# shellcheck source=../common.sh
. "$here/../common.sh"
admin_user=admin admin_password=admin-secret
user=viewer password=viewer-secret
segment=${RECOVERCTL_BENCH_SEGMENT:-32kb}
processes=(coordinator tablet0 tablet1)
zookeeper=org.apache.fluss.shaded.zookeeper3.org.apache.zookeeper.server.quorum.QuorumPeerMain

# split_jars FOLDER: the jars of the server and those of the client, in folders of their own.
split_jars() {
  fetch_jars "$1"
  mkdir "$1/server" "$1/client"
  mv "$1"/fluss-server-*.jar "$1/server"
  mv "$1"/fluss-client-*.jar "$1/client"
  cp "$1"/*.jar "$1/server"
  mv "$1"/*.jar "$1/client"
}

compile_tool() {
  local libs=$1 out=$2
  say "compiling the tool"
  find "$here/tool/src" -name '*.java' -print0 | xargs -0 javac -nowarn -proc:none --release 17 -cp "$libs/client/*" -d "$out" || die "the tool does not compile"
}

# compile_lake LIBS FOLDER: the lake that keeps nothing (lake/src), for the servers' class path.
compile_lake() {
  local libs=$1 out=$2
  say "compiling the lake"
  find "$here/lake/src" -name '*.java' -print0 | xargs -0 javac -nowarn -proc:none --release 17 -cp "$libs/server/*" -d "$out" || die "the lake does not compile"
  mkdir -p "$out/META-INF/services"
  printf 'recoverctl.NoLake\n' >"$out/META-INF/services/org.apache.fluss.lake.lakestorage.LakeStoragePlugin"
}

# settings FILE KEY=VALUE…: prints it with every @KEY@ replaced.
settings() {
  local text pair
  text=$(cat "$here/$1")
  shift
  for pair in "$@"; do text=${text//"@${pair%%=*}@"/"${pair#*=}"}; done
  printf '%s\n' "$text"
}

# jvm NAME HEAP MAIN-CLASS ARGUMENT…: starts a server. Its pid is in NAME/pid.
jvm() {
  local name=$1 heap=$2 hold=()
  shift 2
  # Where setpriv is there, the kernel itself ends the JVM should this script be killed.
  command -v setpriv >/dev/null && hold=(setpriv --pdeathsig TERM)
  "${hold[@]}" java -Xms64m -Xmx"$heap" -XX:MaxDirectMemorySize=512m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    --add-opens=java.base/java.nio=ALL-UNNAMED -Dlog4j2.configurationFile="file:$here/log4j2.properties" -cp "$lake:$libs/server/*" "$@" \
    >"$dir/$name/log" 2>&1 </dev/null &
  disown $! # a test may end it, which is not the shell's to tell
  printf '%s\n' $! >"$dir/$name/pid.new"
  mv "$dir/$name/pid.new" "$dir/$name/pid"
}

launch() {
  case $1 in
    coordinator) jvm coordinator 256m org.apache.fluss.server.coordinator.CoordinatorServer --configDir "$dir/coordinator" ;;
    *) jvm "$1" 512m org.apache.fluss.server.tablet.TabletServer --configDir "$dir/$1" ;;
  esac
}

# start starts all processes on new ports.
start() {
  local i name
  read -r -a ports <<<"$(free_ports 7)"
  rm -rf "${dir:?}"/*
  mkdir -p "$dir/zookeeper" "$dir/remote"
  settings zookeeper.properties DIR="$dir" ZOOKEEPER="${ports[0]}" >"$dir/zookeeper/zookeeper.properties"
  for i in 0 1 2; do
    name=${processes[i]}
    mkdir -p "$dir/$name"
    settings server.yaml DIR="$dir" ZOOKEEPER="${ports[0]}" SEGMENT="$segment" PORT="${ports[i + 1]}" CLIENT="${ports[i + 4]}" \
      ADMIN=$admin_user ADMINPASSWORD=$admin_password USER=$user USERPASSWORD=$password >"$dir/$name/server.yaml"
    [ "$name" = coordinator ] || printf 'tablet-server.id: %d\ndata.dir: %s\n' $((i - 1)) "$dir/$name/data" >>"$dir/$name/server.yaml"
  done
  jvm zookeeper 128m $zookeeper "$dir/zookeeper/zookeeper.properties"
  for name in "${processes[@]}"; do launch "$name"; done
}

# stop ends what runs, by force: its data goes too.
stop() {
  local pid i
  for pid in "$dir"/*/pid; do
    [ -e "$pid" ] || continue
    pid=$(cat "$pid")
    kill -KILL "$pid" 2>/dev/null || continue
    for ((i = 0; i < 50; i++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
  done
}

# ready waits until every process serves. That the coordinator knows the tablet servers takes a moment longer, and no log says it; who
# asks waits until it names two. 1: a port was taken meanwhile.
ready() {
  local i name up
  for ((i = 0; i < 2400; i++)); do
    up=0
    for name in "${processes[@]}"; do
      if grep -q 'Successfully start Netty server' "$dir/$name/log"; then up=$((up + 1)); fi
    done
    [ "$up" -lt 3 ] || return 0
    for name in zookeeper "${processes[@]}"; do
      kill -0 "$(cat "$dir/$name/pid")" 2>/dev/null && continue
      grep -qi 'address already in use' "$dir/$name/log" && return 1
      tail -n 20 "$dir/$name/log" >&2
      die "the $name ended before it served"
    done
    sleep 0.2
  done
  tail -n 20 "$dir/coordinator/log" >&2
  die "the cluster did not serve within eight minutes"
}

# tend forgets the pid of what has ended, before another process gets it, and starts what a test wants back.
tend() {
  local name
  for name in "${processes[@]}"; do
    if [ -e "$dir/$name/pid" ]; then
      kill -0 "$(cat "$dir/$name/pid")" 2>/dev/null || rm "$dir/$name/pid"
    elif [ -e "$dir/$name/start" ]; then
      rm "$dir/$name/start"
      mv "$dir/$name/log" "$dir/$name/log.$(date +%s%N)"
      launch "$name"
    fi
  done
}

main() {
  local libs tool lake attempt ports=()
  need_java openjdk-17-jdk-headless
  need javac openjdk-17-jdk-headless
  need mvn maven
  on_exit
  libs=$(cached fluss "$(hash <"$here/pom.xml")" split_jars)
  lake=$(cached fluss-lake "$({ cat "$here/pom.xml"; find "$here/lake/src" -name '*.java' -print0 | LC_ALL=C sort -z | xargs -0 cat; } | hash)" compile_lake "$libs")
  tool=$(cached fluss-tool "$({ cat "$here/pom.xml"; find "$here/tool/src" -name '*.java' -print0 | LC_ALL=C sort -z | xargs -0 cat; } | hash)" compile_tool "$libs")
  dir=$(mktemp -d "${TMPDIR:-/tmp}/recoverctl-fluss.XXXXXX")

  for attempt in 1 2 3; do
    start
    ready && break
    [ "$attempt" -lt 3 ] || die "no free ports were found in three attempts"
    say "a port was taken meanwhile: trying others"
    stop
  done
  cat <<END
RECOVERCTL_TEST_FLUSS=127.0.0.1:${ports[1]},127.0.0.1:${ports[2]},127.0.0.1:${ports[3]}
RECOVERCTL_TEST_FLUSS_SASL=127.0.0.1:${ports[4]},127.0.0.1:${ports[5]},127.0.0.1:${ports[6]}
RECOVERCTL_TEST_FLUSS_USER=$user
RECOVERCTL_TEST_FLUSS_PASSWORD=$password
RECOVERCTL_TEST_FLUSS_ADMIN_USER=$admin_user
RECOVERCTL_TEST_FLUSS_ADMIN_PASSWORD=$admin_password
RECOVERCTL_TEST_FLUSS_DIR=$dir
RECOVERCTL_TEST_FLUSS_ZOOKEEPER=127.0.0.1:${ports[0]}
RECOVERCTL_TEST_FLUSS_SERVER=$libs/server/*
RECOVERCTL_TEST_FLUSS_TOOL=$tool:$libs/client/*
END
  printf 'READY\n'

  while kill -0 "$parent" 2>/dev/null; do
    tend
    kill -0 "$(cat "$dir/zookeeper/pid")" 2>/dev/null || { tail -n 20 "$dir/zookeeper/log" >&2; die "ZooKeeper ended by itself"; }
    sleep 0.5 & wait $! || true
  done
}

main "$@"
