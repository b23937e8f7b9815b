# What the scripts share that make pictures in docs/images from the real console,
# driven by the keyboard in tmux. To be sourced, from the root of the repository.
me=$(basename "$0")
command -v tmux >/dev/null || { echo "$me: tmux is needed; install the package tmux" >&2; exit 1; }
out=docs/images
mkdir -p "$out"
tmp=$(mktemp -d)
socket=recoverctl-shots-$$
trap 'tmux -L "$socket" kill-server 2>/dev/null || true; rm -rf "$tmp"' EXIT
go build -o "$tmp/svg" ./test/screenshots

# open_console SIZE ARGUMENT…: the program in a terminal of that size, as in 80x24.
open_console() {
  columns=${1%x*} rows=${1#*x}
  shift
  tmux -L "$socket" -f /dev/null new-session -d -s shot -x "$columns" -y "$rows" -c "$tmp" \
    "env COLORTERM=truecolor TERM=tmux-256color LANG=C.UTF-8 $PWD/bin/recoverctl $*"
}

close_console() {
  tmux -L "$socket" kill-server
  sleep 0.3
}

# picture NAME: what the pane shows now.
picture() { tmux -L "$socket" capture-pane -p -e -t shot | "$tmp/svg" "$columns" "$rows" >"$out/$1-${columns}x$rows.svg"; }

# shown: the text of the pane.
shown() { tmux -L "$socket" capture-pane -p -t shot; }

# wait_for TEXT: until the pane shows it.
wait_for() {
  for _ in $(seq 200); do
    shown | grep -qF -- "$1" && return
    sleep 0.1
  done
  echo "$me: the console never showed: $1" >&2
  shown >&2
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
    sleep 0.12
  done
}

# command_line LINE: a line of the palette. Enter is pressed by itself.
command_line() {
  press :
  type_in "$1"
  sleep 0.7
  press Enter
}

# accept ticks every warning after it was on the screen.
accept() {
  local n
  n=$(shown | grep -oE 'Accept [0-9]+ warning' | grep -oE '[0-9]+')
  sleep 0.5
  press PageDown PageDown
  for ((w = 0; w < n; w++)); do press Tab Space; done
  press Tab Enter
}

# confirm REASON PHRASE: the whole way to the button, and the button.
confirm() {
  press PageDown PageDown PageDown Tab
  sleep 0.5
  type_in "$1"
  press Tab
  sleep 0.5
  type_in "$2"
  sleep 0.5
  press Tab Space
}

told() { echo "$me: wrote pictures to $out, which now has $(find "$out" -name '*.svg' | wc -l)"; }
