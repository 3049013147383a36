#!/usr/bin/env bash
# Every option that leveret-mpi takes stands in man/leveret-mpi.1.scd, or is one of `leveret train`,
# whose page tells of it; and the completion offers it.
#
#   tests/dist/options.sh LEVERET LEVERET_MPI
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
PATH=$(dirname "$(realpath "$1")"):$(dirname "$(realpath "$2")"):$PATH
# shellcheck source=../../completions/leveret.bash
source "$here/../../completions/leveret.bash"

in_help() { "$@" --help_all | grep -oE '^  -[^ ]+' | tr -d ' ' | tr , '\n' | sort -u; }
in_page() {
  awk -f "$here/../../man/include.awk" "$here/../../man/leveret-mpi.1.scd" |
    awk -v verb="$1" '/^#/ { on = index($0, toupper(verb)) } on && /^\*-/ { print }' | grep -oE '\*-[^*]+\*' | tr -d '*\\' | sort -u
}
completed() {
  COMP_WORDS=(leveret-mpi "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _leveret
  printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort -u
}

failed=0
list=$(mktemp)
trap 'rm -f "$list"' EXIT
none() { # none WHAT LINES
  if [ -n "$2" ]; then
    echo "FAIL $1: $2"
    failed=1
  fi
}
verbs=$(leveret-mpi --help | awk '/^[^ ]/ { on = tolower($0) ~ /^(subcommands|verbs)/ }
  on && /^  [a-z]/ { print $1 }')
[ "$(sort <<<"$verbs" | xargs)" = "evaluate export gather predict train" ] || none "verbs" "$verbs"
none "verbs by completion" "$(diff <(sort <<<"$verbs") <(completed ""))"
for verb in $verbs; do
  in_help leveret-mpi "$verb" >"$list"
  common='--help --help_all -h'
  case $verb in
    train | predict | evaluate | export) common=$(in_help leveret "$verb") ;;
  esac
  # shellcheck disable=SC2086 # a word each
  none "$verb: not in a man page" \
    "$(comm -23 "$list" <({ printf '%s\n' $common && in_page "$verb"; } | sort -u))"
  none "$verb: in the man page alone" \
    "$(comm -13 "$list" <(in_page "$verb"))"
  none "$verb: completion" "$(diff "$list" <(completed "$verb" -))"
done
[ $failed = 0 ] && echo "options: ok"
exit $failed
