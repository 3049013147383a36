#!/usr/bin/env bash
# Two versions of leveret on real data: does the later one learn as well? The same seeds on both sides.
#
#   paired.sh --before PATH --after PATH --data DIR [--seeds 5] [--noisy_seeds 20] [--only REGEX]
#             [--results TSV]
#
# DIR holds a folder per data set, with train.vw and test.vw (or .vw.zst, .vw.gz); --only takes those
# whose name matches. Each is learned in one pass, train then test, with the defaults and --seed 0, 1,
# 2, …; logloss and AUC are progressive, as with ablation.sh. --noisy_seeds is for the sets in which
# few rows decide or the last ones differ from the first: frappe_87k, talkingdata_100k, elec_45k,
# weather_18k.
#
# Per set: the means over the seeds, the mean of the changes of logloss with the same seed, in percent,
# + is worse, and the standard error of that mean. Over all sets: the mean change with its interval of
# 95 %, for these sets and any seeds: the error is sqrt(sum of errors²) / sets.
#
# --results keeps every figure under the program's SHA-256 and the kernels it ran with; what it holds
# already is not run again: remove it when the data changes. The same program on both sides fills it.
set -euo pipefail
export LC_ALL=C
before='' after='' data='' seeds=5 noisy_seeds=20 only=. results=''
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --before) before=$2 ;; --after) after=$2 ;; --data) data=$2 ;; --seeds) seeds=$2 ;;
    --noisy[_-]seeds) noisy_seeds=$2 ;; --only) only=$2 ;; --results) results=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$before" ] || [ -z "$after" ] || [ -z "$data" ]; then usage; fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$results" ] || results=$work/results.tsv
[ -s "$results" ] || printf '# program\tkernels\tset\tseed\tlogloss\tAUC\n' >"$results"

# shellcheck source=part.sh
source "$(dirname "$0")/part.sh"

sets=()
for folder in "$data"/*/; do
  name=$(basename "$folder")
  [[ $name =~ $only ]] || continue
  if [ -n "$(part "$name" train)" ] && [ -n "$(part "$name" test)" ]; then sets+=("$name"); fi
done
[ ${#sets[@]} -gt 0 ] || { echo "$data: no folder like $only with train.vw and test.vw in it" >&2; exit 1; }

seeds_of() {
  case $1 in
    frappe_87k | talkingdata_100k | elec_45k | weather_18k) echo "$noisy_seeds" ;;
    *) echo "$seeds" ;;
  esac
}

# key PROGRAM: what its figures are kept under: its SHA-256 and its kernels, as others round otherwise.
key() {
  local simd
  for simd in ${LEVERET_SIMD:-avx512 avx2 sse2 neon reference}; do
    if LEVERET_SIMD=$simd "$1" --version >"$work/log" 2>&1; then break; fi
  done
  printf '%s\t%s' "$(sha256sum <"$1" | cut -d ' ' -f 1)" "$simd"
}

# run PROGRAM KEY SET SEED: one line into the results, unless it is there.
run() {
  local figures
  if grep -qF "$2"$'\t'"$3"$'\t'"$4"$'\t' "$results"; then return; fi
  # One window holds everything: its figures are those of the whole pass.
  "$1" train -d "$(part "$3" train)" "$(part "$3" test)" --quiet --seed "$4" --metrics "$work/metrics" \
    --window 1000000000000
  figures=$(sed -n '$s/.*"logloss": *\([0-9.]*\).*"auc": *\([0-9.]*\).*/\1\t\2/p' "$work/metrics")
  [ -n "$figures" ] || { echo "$1, $3: no figures in --metrics" >&2; exit 1; }
  printf '%s\t%s\t%s\t%s\n' "$2" "$3" "$4" "$figures" >>"$results"
}

# table BEFORE AFTER: keys. Reads "set seeds" lines.
table() {
  awk -F '\t' -v before="$1" -v after="$2" '
    FILENAME == ARGV[1] { key = $1 "\t" $2; loss[key, $3, $4] = $5; auc[key, $3, $4] = $6; next }
    FNR == 1 {
      print "| set | seeds | logloss before | after | change | standard error | AUC before | after |"
      print "|---|---|---|---|---|---|---|---|"
    }
    {
      a = b = auc_a = auc_b = sum = squares = apart_a = apart_b = 0
      for (s = 0; s < $2; ++s) {
        a += x = loss[before, $1, s]
        b += y = loss[after, $1, s]
        auc_a += auc[before, $1, s]
        auc_b += auc[after, $1, s]
        apart_a += x != loss[before, $1, 0]
        apart_b += y != loss[after, $1, 0]
        change[s] = 100 * (y / x - 1)
        sum += change[s]
      }
      mean = sum / $2
      for (s = 0; s < $2; ++s) squares += (change[s] - mean) ^ 2
      error = ($2 > 1 ? sqrt(squares / ($2 - 1) / $2) : "")
      printf "| %s | %d | %.5f | %.5f | %+.3f %% | %s | %.4f | %.4f |\n", $1, $2, a / $2, b / $2, mean,
        (error == "" ? "–" : sprintf("%.3f %%", error)), auc_a / $2, auc_b / $2
      if ($2 > 1 && !apart_a) same = same $1 ": the seed makes no difference before.\n"
      if ($2 > 1 && !apart_b) same = same $1 ": the seed makes no difference after.\n"
      if ($2 < 2) lone = 1
      means += mean
      errors += error ^ 2
    }
    END {
      printf "\nAll %d sets: %+.3f %%", FNR, means / FNR
      if (lone) print "; from one seed nothing follows about chance"
      else printf ", 95 %% interval %+.3f to %+.3f %%\n", (means - 1.96 * sqrt(errors)) / FNR, (means + 1.96 * sqrt(errors)) / FNR
      printf "%s", same
    }' "$results" -
}

before_key=$(key "$before") after_key=$(key "$after")
for set in "${sets[@]}"; do
  for ((seed = 0; seed < $(seeds_of "$set"); ++seed)); do
    run "$before" "$before_key" "$set" "$seed"
    run "$after" "$after_key" "$set" "$seed"
  done
done
for set in "${sets[@]}"; do printf '%s\t%s\n' "$set" "$(seeds_of "$set")"; done | table "$before_key" "$after_key"
