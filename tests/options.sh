#!/usr/bin/env bash
# Every verb and option that the program takes stands in man/leveret.1.scd and is offered by the
# bash completion; and neither names one that the program does not take.
#
#   tests/options.sh LEVERET
#
# In the man page an option is a line that begins with *-x* or *--name*, under a heading ("## ...")
# that names the verbs it belongs to.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
page=$here/../man/leveret.1.scd
program=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$program" "$work/bin/leveret"
export PATH=$work/bin:$PATH
# shellcheck source=../completions/leveret.bash
source "$here/../completions/leveret.bash"

# verbs: from `leveret --help`
verbs() {
  leveret --help | awk '/^[^ ]/ { on = tolower($0) ~ /^(subcommands|verbs)/ }
    on && /^  [a-z]/ { print $1 }'
}

# in_help VERB: options as `leveret VERB --help` lists them
in_help() { leveret "$1" --help | grep -oE '^ +-[^ ]+' | tr -d ' ' | tr , '\n' | sort -u; }

# in_page VERB: options of the headings that name the verb
in_page() {
  awk -v verb="$1" '
    /^#/ { on = $0 ~ "(^|[^a-z])" verb "([^a-z]|$)" }
    on && /^\*-/ { print }' "$page" |
    grep -oE '\*-[^*]+\*' | tr -d '*\\' | sort -u
}

# completed WORD...: what the completion offers after these words
completed() {
  COMP_WORDS=(leveret "$@")
  COMP_CWORD=$#
  COMPREPLY=()
  _leveret
  printf '%s\n' ${COMPREPLY[@]+"${COMPREPLY[@]}"} | sort -u
}

failed=0
same() { # same WHAT EXPECTED GOT
  if ! diff --label "the program" --label "$1" -u <(printf '%s\n' "$2") <(printf '%s\n' "$3"); then
    echo "FAIL $1"
    failed=1
  fi
}

all=$(verbs)
[ -n "$all" ] || { echo "no verbs in leveret --help"; exit 1; }
same "verbs by completion" "$(sort <<<"$all")" "$(completed "")"
for verb in $all; do
  if [ "$verb" = help ]; then continue; fi
  same "$verb: man page" "$(in_help "$verb")" "$(in_page "$verb")"
  same "$verb: completion of -" "$(in_help "$verb")" "$(completed "$verb" -)"
done
# What is typed with - in place of _ completes as well, and values follow their option.
same "completion of --ffm-init-w" "--ffm_init_width" "$(completed train --ffm-init-w)"
same "completion of help v" "vw" "$(completed help v)"
same "completion of --optimizer a" "$(printf 'adagrad\nadam')" "$(completed train --optimizer a)"
[ $failed = 0 ] && echo "options: ok"
exit $failed
