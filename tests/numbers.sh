#!/usr/bin/env bash
# Every option that takes a number refuses what is none: exit status 2, and a sentence that names the
# option; nothing is read or written. Options and what they take come from the help of each verb, so
# that a new one is among them; one that takes something new fails here until it has its place below.
#
#   tests/numbers.sh LEVERET [LEVERET_MPI]
#
# With LEVERET_MPI its verbs are asked, else those of LEVERET.
set -euo pipefail
leveret=$(realpath "$1")
program=$(realpath "${2:-$1}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
seq 20 | awk '{ print $1 % 2 ? "1 |a x" $1 : "-1 |a y" $1 }' >data
"$leveret" train --quiet -f model.lvt data 2>/dev/null
mkdir folder
failed=0
fail() {
  echo "FAIL $*"
  failed=1
}

# What no number of any kind is; what no whole number is, though a real one or a size may be.
none=(-1 '' nan NaN -nan inf -inf infinity ' 5' '5 ' $'5\t' 0x10 5x x5 +-5 --5 5,5x '5 5' 1e999 1e 5_000
  0b1 $'\xef\xbc\x95' 99999999999999999999999x "'5'" '*')
not_whole=(1e3 1.5 5. +5 99999999999999999999999 18446744073709551616 -0)

# verbs: as tests/options.sh
verbs() {
  "$program" --help | awk '/^[^ ]/ { on = tolower($0) ~ /^(subcommands|verbs)/ }
    on && /^  [a-z]/ { print $1 }'
}
# options VERB: a line each, of the option's longest name, what it takes, and of a key what stands before it
options() {
  "$program" "$1" --help_all | awk '/^  -/ {
    n = split($1, names, ",")
    name = names[n]
    value = $2
    sub(/[\[:].*/, "", value)
    if (value ~ /^[A-Z]+([^a-zA-Z]|$)/) print name, value
    if ($2 ~ /^\[PART/) print name, "RULE"
  }
  # Keys: ":range=W", "rows=RULE:rate=X"
  /^      [^ ]*:[a-z_]+=[A-Z]/ {
    split($1, key, "=")
    front = $1
    sub(/[A-Z]+$/, "", front)
    sub(/RULE/, "adagrad", front)
    value = $1
    sub(/.*=/, "", value)
    print name, value, front
  }'
}
# kind OPTION TAKES: whole, real, size, or what stands before and after a number; words and names
# are no numbers.
kind() {
  case $1,$2 in
    --max_line,* | --max_memory,* | --max_request,* | --max_buffered,* | --context_cache,*) echo size ;;
    --rollback,STEP) echo whole ;;
    --save_every,*) echo whole ;;
    *,N) echo whole ;;
    *,X | *,W) echo real ;;
    *,BITS) echo whole ;;
    --progress,N\|X.Y) echo progress ;;
    --bad_lines,POLICY) echo whole max= ;;
    --hidden,N,…\|none) echo whole 16, ;;
    --fields,TEXT) echo whole a= ;;
    --optimizer,RULE) ;;
    --tower,KIND*) echo whole mlp:hidden= ;;
    *,FILE | *,MODEL | *,FOLDER | *,PATCH | *,NEW | *,WORD | *,LINK* | *,NAME* | *,TEXT*) ;;
    *,NS* | *,A\** | *,NEW* | *,COL* | *,VALUE* | *,FORM*) ;;
    *,PATH | *,DIR | *,IP | *,GATE) ;;
    *) echo unknown ;;
  esac
}

# usual_value OPTION: what stands before a key of it
usual_value() { if [ "$1" = --heads ]; then echo mixed; else echo 8; fi; }
# usual VERB: what stands before the option, so that nothing else is wrong
usual() {
  case $1 in
    predict | evaluate | serve) echo "-i $model" ;;
    publish) echo "published -i $model" ;;
    export | gather) echo "-i $model -o out" ;;
    diff | patch) echo "model.lvt model.lvt -o out" ;;
    convert) echo "libffm" ;;
  esac
}
model=model.lvt
if [ $# != 1 ]; then
  model=folder
  # Each start of MPI takes a second; every option is asked, by fewer words, as the reader is the same.
  none=(-1 '' nan 5x) not_whole=(1.5)
  export OMPI_MCA_ess_singleton_isolated=1
fi

# refused VERB OPTION WORD
refused() {
  local code=0 said
  # shellcheck disable=SC2046 # several words
  said=$("$program" "$1" $(usual "$1") "$2" "$3" 2>&1 <data) || code=$?
  [ $code = 2 ] || fail "$1 $2 '$3': exit $code: $said"
  grep -qE -- "^leveret: error: .*$2([^a-z_]|$)" <<<"$said" || fail "$1 $2 '$3' says: $said"
  # Words of the library that reads options, which differ with its version.
  ! grep -E 'not in range|[Cc]ould not convert|required|Input|unit' <<<"$said" || fail "$1 $2 '$3'"
}

count=0
for verb in $(verbs); do
  while read -r option takes key; do
    what=$(kind "$option" "$takes")
    if [ "$what" = unknown ]; then
      fail "$verb $option takes $takes: has no place in tests/numbers.sh"
      continue
    fi
    read -r number before <<<"$what"
    [ -n "${number-}" ] || continue
    case $key in :*) before=$(usual_value "$option")$key ;; ?*) before=$key ;; esac
    words=("${none[@]}")
    case $number in
      whole) words+=("${not_whole[@]}") ;;
      size) words+=("${not_whole[@]}" 5KK K 1.5K '5 K' 5Q 99999999999999999999K 16E) ;;
      real) words+=(1e3.5 1,5 1e40) ;;
      progress) words+=(0 -1.5 1.0 0.5 1e3 1e999. nan. inf.) ;;
    esac
    for word in "${words[@]}"; do
      refused "$verb" "$option" "$before$word"
      count=$((count + 1))
    done
  done < <(options "$verb")
done
left=$(ls -A)
[ "$(xargs <<<"$left")" = "data folder model.lvt" ] || fail "left: $left"
[ $count -gt 200 ] || fail "only $count were tried"
[ $failed = 0 ] && echo "numbers: ok, $count refused"
exit $failed
