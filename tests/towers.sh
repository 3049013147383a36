#!/usr/bin/env bash
# Each kind of tower that `leveret help towers` lists, and each of its keys, stands in leveret-train(1); its word,
# in the completions.
#
#   tests/towers.sh LEVERET
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
bad=0
page=$(sed -n '/^\*--tower\*/,/^\*--max_fields/p' "$root/man/leveret-train.1.scd")
kinds=0
while read -r word rest; do
  case $word in
    of) continue ;;
    *=*)
      key=${word%%=*}
      grep -qE "\*$key=" <<<"$page" || { echo "leveret-train(1) lacks $key of the tower $kind"; bad=1; }
      ;;
    *)
      kind=$word
      kinds=$((kinds + 1))
      grep -qE "\*$kind\*" <<<"$page" || { echo "leveret-train(1) lacks the tower $kind"; bad=1; }
      for file in leveret.bash _leveret; do
        grep -E -- '--tower\)' "$root/completions/$file" | grep -qw "$kind" ||
          { echo "completions/$file lacks the tower $kind"; bad=1; }
      done
      ;;
  esac
done < <("$1" help towers | grep -E '^  [^ ]|^    [^ ]*=')
[ "$kinds" -gt 4 ] || { echo "$1 help towers lists $kinds kinds"; bad=1; }
exit $bad
