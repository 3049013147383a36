#!/usr/bin/env bash
# Each verb has its page, man/leveret-VERB.1.scd, with every option that the verb takes and no other, and
# is offered with them by the bash completion. man/leveret.1.scd lists the verbs.
#
#   tests/options.sh LEVERET
#
# An option on a page is a line under OPTIONS that begins with *-x* or *--name*. Synopsis and examples name no
# option that the verb does not take; examples come before all else.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
man=$here/../man
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

# in_help VERB: options as `leveret VERB --help_all` lists them
in_help() { leveret "$1" --help_all | grep -oE '^  -[^ ]+' | tr -d ' ' | tr , '\n' | sort -u; }

# section NAME PAGE: its lines
section() { awk -v name="# $1" '/^# / { on = $0 == name } on' "$2"; }

# in_page PAGE: its options
in_page() { section OPTIONS "$1" | grep '^\*-' | grep -oE '\*-[^*]+\*' | tr -d '*\\' | sort -u; }

# examples PAGE: "VERB WORD..." of each call of the program in its blocks
examples() {
  awk '/^```/ { on = !on; next } on' "$1" | sed -E ':a; /\\$/ { N; s/\\+\n//; ta }; s/"[^"]*"//g' |
    grep -oE '(^|[^a-z/.-])leveret [a-z]+[^|&;<>]*' | sed -E 's/^.*leveret //'
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
same "verbs of leveret(1)" "$(sort <<<"$all")" \
  "$(section VERBS "$man/leveret.1.scd" | sed -nE 's/^- \*leveret-([a-z]+)\*\(1\): .*/\1/p' | sort)"
for verb in $all; do
  page=$work/leveret-$verb.1
  in_help "$verb" >"$work/$verb.options"
  awk -f "$man/include.awk" "$man/leveret-$verb.1.scd" >"$page" || { failed=1; continue; }
  # --help fits a screen, and names what there is. Its examples may go on with another verb.
  leveret "$verb" --help >"$work/screen"
  same "$verb: lines and columns of --help" "fit" \
    "$(awk 'length($0) > 80 || NR > 24 { fit = "no: " $0 } END { print fit ? fit : "fit" }' "$work/screen")"
  [ "$verb" = help ] || same "$verb: unknown options of --help" "" "$(grep -v '^  [a-z]' "$work/screen" |
    grep -oE '(^|[ (])--?[a-z][a-z_]*' | tr -d ' (' | sort -u | comm -13 "$work/$verb.options" -)"
  same "$verb: wide lines of --help_all" "" "$(leveret "$verb" --help_all | LC_ALL=C.UTF-8 grep -E '.{81}')"
  same "$verb: man page" "$(cat "$work/$verb.options")" "$(in_page "$page")"
  same "$verb: sections" "$(printf '# %s\n' NAME SYNOPSIS EXAMPLES DESCRIPTION OPTIONS)" \
    "$(grep '^# ' "$page" | head -n 5)"
  same "$verb: options of the synopsis alone" "" "$(section SYNOPSIS "$page" | grep -oE '\*-[^*]+\*' |
    tr -d '*\\' | sort -u | comm -13 "$work/$verb.options" -)"
  if [ "$verb" = help ]; then continue; fi
  same "$verb: completion of -" "$(cat "$work/$verb.options")" "$(completed "$verb" -)"
done
# Examples of all pages, but for those of leveret-vw(7), which are in the words of Vowpal Wabbit.
for page in "$man"/*.scd; do
  case $page in */leveret-vw.7.scd) continue ;; esac
  while read -r verb words; do
    if [ ! -e "$work/$verb.options" ]; then
      same "$(basename "$page"): verbs of examples" "" "$verb"
      continue
    fi
    options=$(tr ' ' '\n' <<<"$words" | sed -nE 's/^(-[a-z]|--[a-z_]+)(=.*)?$/\1/p' | sort -u)
    same "$(basename "$page"): options of the example $verb $words" "" \
      "$(comm -13 "$work/$verb.options" <(printf '%s' "${options:+$options$'\n'}"))"
  done < <(examples "$page")
done
# What pages share, some page has.
for shared in "$man"/shared/*.scd; do
  grep -qx "@include $(basename "$shared" .scd)" "$man"/*.scd ||
    same "pages that include $(basename "$shared")" "one" "none"
done
# What is typed with - in place of _ completes as well, and values follow their option.
same "completion of --ffm-init-w" "--ffm_init_width" "$(completed train --ffm-init-w)"
same "completion of help v" "vw" "$(completed help v)"
same "completion of --optimizer a" "$(printf 'adagrad\nadam')" "$(completed train --optimizer a)"
[ $failed = 0 ] && echo "options: ok"
exit $failed
