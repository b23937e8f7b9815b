# What the up.sh of every server has in common. It is sourced, when server says which server it is and here where its files are.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154

cache=${XDG_CACHE_HOME:-$HOME/.cache}/recoverctl
parent=$PPID
dir=
pids=()

say() { printf '%s: %s\n' "$server" "$*" >&2; }
die() { say "$*"; exit 1; }

# need PROGRAM PACKAGE: installs the package where the program is missing and this user may do that without being asked.
need() {
  command -v "$1" >/dev/null && return
  local root=()
  if [ "$(id -u)" != 0 ]; then
    root=(sudo -n)
    sudo -n true 2>/dev/null || die "$1 is missing: install $2"
  fi
  command -v apt-get >/dev/null || die "$1 is missing: install $2"
  say "$1 is missing: installing $2 with apt-get"
  "${root[@]}" apt-get install -y -qq "$2" >&2 || { "${root[@]}" apt-get update -qq >&2 && "${root[@]}" apt-get install -y -qq "$2" >&2; } ||
    die "apt-get could not install $2: install it by hand"
}

# need_java PACKAGE: Java 17 or newer.
need_java() {
  local version
  need java "$1"
  version=$(java -version 2>&1 | sed -n 's/.*version "\([0-9]*\).*/\1/p' | head -n 1)
  [ "${version:-0}" -ge 17 ] || die "Java 17 or newer is needed: install $1"
}

hash() { sha256sum | cut -c 1-16; }

# cached NAME KEY COMMAND…: prints the folder NAME-KEY of the cache, made by the command (which gets a folder to fill as its last
# argument) on first use. Two starts at once may both make it; the first one in wins.
cached() {
  local name=$1 want=$cache/$1-$2 part
  shift 2
  if [ ! -d "$want" ]; then
    mkdir -p "$cache"
    part=$(mktemp -d "$cache/.$name.XXXXXX")
    "$@" "$part" >&2 || { rm -rf "$part"; return 1; }
    mv -T "$part" "$want" 2>/dev/null || rm -rf "$part"
  fi
  printf '%s\n' "$want"
}

# fetch_jars ARGUMENT… FOLDER: what pom.xml depends on, with these arguments for Maven.
fetch_jars() {
  local into=${*: -1}
  say "fetching the jars of $server"
  mvn -q -B -f "$here/pom.xml" "${@:1:$#-1}" dependency:copy-dependencies -DoutputDirectory="$into" ||
    die "Maven could not fetch the jars of $server: is a Maven repository reachable?"
}

# free_ports COUNT prints so many ports that nothing listens on. They lie below the range that the kernel hands out by itself.
free_ports() {
  local found=() port
  while [ "${#found[@]}" -lt "$1" ]; do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    case " ${found[*]-} " in *" $port "*) continue ;; esac
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || found+=("$port")
  done
  printf '%s\n' "${found[*]}"
}

# end_all ends what pids holds: politely first, by force after 15 s.
end_all() {
  local pid i
  for pid in "${pids[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done
  for pid in "${pids[@]}"; do
    for ((i = 0; i < 150; i++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  pids=()
}

# finish ends the server and leaves nothing behind; dir keeps its logs and data where RECOVERCTL_TEST_KEEP=1.
finish() {
  local code=$?
  trap - EXIT
  stop
  if [ -n "$dir" ]; then
    if [ "${RECOVERCTL_TEST_KEEP:-}" = 1 ]; then say "logs and data are in $dir"; else rm -rf "$dir"; fi
  fi
  exit "$code"
}

# stop ends the server. An up.sh whose server needs more defines its own.
stop() { end_all; }

# on_exit lets finish run, whichever way the script ends.
on_exit() {
  trap finish EXIT
  trap 'exit 143' TERM HUP
  trap 'exit 130' INT
}
