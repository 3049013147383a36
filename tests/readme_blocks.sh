# README.md's sessions, for the tests that run them. A session is the block that follows the line
# "<!-- NAME -->": lines "$ command", each followed by what it prints.

# block NAME FILE: its lines
block() {
  awk -v mark="<!-- $1 -->" '$0 == mark { armed = 1; next }
    armed && /^```/ { inside = !inside; if (!inside) exit; next }
    inside { print }' "$2"
}

# commands FILE: a script of a session's commands. Each says itself, as the shell's prompt would have it.
commands() {
  sed -n 's/^\$ //p' "$1" | while IFS= read -r line; do
    printf 'printf "%%s\\n" %q\n%s\n' "\$ $line" "$line"
  done
}

# put_block NAME FILE GOT: replaces its lines by those of the file GOT
put_block() {
  awk -v mark="<!-- $1 -->" -v got="$3" '
    inside && /^```/ { while ((getline text < got) > 0) print text; inside = 0; armed = 0 }
    !inside { print }
    $0 == mark { armed = 1 }
    armed && /^```/ { inside = 1 }' "$2" >"$3.new"
  cp "$3.new" "$2"
}

# begin_session PROGRAM PAGE: makes $work, gone at the end, with cwd, which has what a built source tree has.
# Exit 77 where this machine lacks AVX2, of which PAGE, unless it is README.md, shows the digits.
begin_session() {
  if [ "$2" != README.md ] && ! LEVERET_SIMD=avx2 "$1" --version >/dev/null 2>&1; then
    echo "this machine has no AVX2, of which $2 shows the digits"
    exit 77
  fi
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/cwd/build/bin"
  ln -s "$1" "$work/cwd/build/bin/leveret"
  ln -s "$root/datasets" "$work/cwd/datasets"
  export LC_ALL=C
}
