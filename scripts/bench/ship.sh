#!/usr/bin/env bash
# What a server must be sent every few minutes: exports and patches of a model that goes on learning
# from drifting rows, step by step (Table 4 and Figure 6 of the Fwumious Wabbit paper).
#
#   ship.sh --leveret PATH --synth PATH --out DIR [--base 1000000] [--step 50000] [--steps 20]
#           [--tolerance "32:T 16:T 8:T 4:T"] [--drift 2] [--seed 1] [--only REGEX] [--threads 1]
#           [--peers yes|no] [--zstd_level 19] [--bsdiff_mb 16] [--fw_patcher PATH]
#
# For the default model and for DeepFFM k = 8 with one head: learns --base generated rows
# (leveret-synth --drift_kind gradual), then --steps times --step more. After each step it exports the
# model in 32, 16, 8 and 4 bits, each with --previous the export before and the tolerances 0 and that of
# --tolerance, makes the patch from the file before to the one now, of the training file, too,
# and applies it: the result must be the file. AUC is that of the patched file on the rows of the next
# step. At the end one call applies the chain of all patches to the first file, which must give the
# last one.
#
# DIR/ship.tsv has a line a step and file, DIR/MODEL.png the sizes of the patches over the steps,
# DIR/peers.tsv those of the last step beside xdelta3, bsdiff (files up to --bsdiff_mb), zstd
# --patch-from, and Fwumious Wabbit's weight_patcher where its path is given. Tables go to standard
# output: means over the steps, seconds of processor time; and how much more than the entropy of what
# changed the last patches take (leveret diff --explain). A cell that is missing, a result that differs
# or a command that fails ends it with exit status 1.
set -euo pipefail
export LC_ALL=C
leveret='' synth='' out='' base=1000000 step=50000 steps=20 tolerances='32:32 16:32 8:2 4:.75' drift=2 seed=1 only=.
threads=1 peers=yes zstd_level=19 bsdiff_mb=16 fw_patcher=''
usage() { sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case $1 in
    --leveret) leveret=$2 ;; --synth) synth=$2 ;; --out) out=$2 ;; --base) base=$2 ;; --step) step=$2 ;;
    --steps) steps=$2 ;; --tolerance) tolerances=$2 ;; --drift) drift=$2 ;; --seed) seed=$2 ;;
    --only) only=$2 ;; --threads) threads=$2 ;; --peers) peers=$2 ;; --bsdiff_mb) bsdiff_mb=$2 ;;
    --fw_patcher) fw_patcher=$2 ;; --zstd_level) zstd_level=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -z "$leveret" ] || [ -z "$synth" ] || [ -z "$out" ]; then usage; fi
[ "$steps" -ge 1 ] || usage

# shellcheck source=scripts/bench/lib.sh
. "$(dirname "$0")/lib.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
fail() { echo "ship.sh: $*" >&2; exit 1; }

# The files that are shipped: the training file, and a width of an export with its tolerance.
files=(training)
for bits in 32 16 8 4; do
  tolerance=$(tr ' ' '\n' <<<"$tolerances" | sed -n "s/^$bits://p")
  [ -n "$tolerance" ] || fail "--tolerance says nothing of $bits bits"
  files+=("$bits:0" "$bits:$tolerance")
done

rows() { "$synth" --quiet --seed "$seed" --drift_kind gradual --drift "$drift" --first "$1" --rows "$2"; }
size() { stat -c %s "$1"; }

# measured COMMAND...: runs it; `used` becomes "wall CPU megabytes".
measured() {
  if ! /usr/bin/time -f '%e %U %S %M' -o "$work/usage" "$@" >"$work/log" 2>&1; then
    tail -n 5 "$work/log" >&2
    fail "failed: $*"
  fi
  used=$(tail -n 1 "$work/usage" | awk '{ printf "%s %.2f %.0f", $1, $2 + $3, $4 / 1024 }')
}

# make_file FILE OLD: what is shipped, from the model that was learned now, as $work/now.FILE.
make_file() {
  if [ "$1" = training ]; then
    ln -f "$work/model" "$work/now.$1"
    used='0 0 0'
    return
  fi
  local options=(--bits "${1%:*}")
  if [ -n "$2" ]; then options+=(--previous "$2" --tolerance "${1#*:}"); fi
  measured "$leveret" export -i "$work/model" -o "$work/now.$1" "${options[@]}"
}

# learn OPTION...: the rows of $work/rows.vw, into $work/model.
learn() {
  measured "$leveret" train --quiet -d "$work/rows.vw" --threads "$threads" -f "$work/learned" "$@"
  mv "$work/learned" "$work/model"
}

# auc FILE: "AUC logloss" on $work/next.vw
auc() {
  measured "$leveret" evaluate -i "$1" -d "$work/next.vw"
  awk '$1 == "auc" { a = $2 } $1 == "logloss" { l = $2 } END { if (a == "" || l == "") exit 1; print a, l }' "$work/log" ||
    fail "no AUC of $1"
}

# one_step MODEL NUMBER: exports, patches, applies; a line a file in ship.tsv.
one_step() {
  local file made diffed patched scores
  for file in "${files[@]}"; do
    make_file "$file" "$work/before.$file"
    made=$used
    measured "$leveret" diff "$work/before.$file" "$work/now.$file" -o "$work/patch.$file.$2"
    diffed=$used
    measured "$leveret" patch "$work/before.$file" "$work/patch.$file.$2" -o "$work/patched"
    patched=$used
    cmp -s "$work/patched" "$work/now.$file" || fail "$1, step $2: the patched file of $file is another one"
    scores=$(auc "$work/patched")
    tr ' ' '\t' <<<"$1 $2 $file $(size "$work/now.training") $(size "$work/now.$file") $(size "$work/patch.$file.$2") $made $diffed $patched $scores" |
      tee -a "$out/ship.tsv" >&2
  done
}

# chain MODEL: all patches in one call.
chain() {
  local file number patches
  for file in "${files[@]}"; do
    patches=()
    for ((number = 1; number <= steps; ++number)); do patches+=("$work/patch.$file.$number"); done
    measured "$leveret" patch "$work/first.$file" "${patches[@]}" -o "$work/chained"
    cmp -s "$work/chained" "$work/now.$file" || fail "$1: the chain of $steps patches of $file gives another file"
  done
  echo "$1: chains of $steps patches give the files of the last step: training file and $((${#files[@]} - 1)) exports."
}

# ---- beside others ----

# peer MODEL FILE PROGRAM PATCH: after its patch was made ($made) and applied to $work/theirs ($used).
peer() {
  local right=yes
  cmp -s "$work/theirs" "$work/now.$2" || right=no
  tr ' ' '\t' <<<"$1 $2 $3 $(size "$work/now.$2") $(size "$4") $made $used $right" | tee -a "$out/peers.tsv" >&2
  if [ $right = no ] && [ "$3" = leveret ]; then fail "$1: the patched file of $2 is another one"; fi
}

beside_others() {
  local file old now made window patch=$work/theirs.patch
  for file in "${files[@]}"; do
    old=$work/before.$file now=$work/now.$file
    # So much of the old file xdelta3 looks back on: all of it.
    window=$((1 << 20))
    while [ $window -lt "$(size "$old")" ]; do window=$((2 * window)); done
    measured "$leveret" diff "$old" "$now" -o "$patch"; made=$used
    measured "$leveret" patch "$old" "$patch" -o "$work/theirs"
    peer "$1" "$file" leveret "$patch"
    measured xdelta3 -e -f -9 -B "$window" -s "$old" "$now" "$patch"; made=$used
    measured xdelta3 -d -f -B "$window" -s "$old" "$patch" "$work/theirs"
    peer "$1" "$file" xdelta3 "$patch"
    measured zstd -q -f -"$zstd_level" --long=31 --patch-from="$old" "$now" -o "$patch"; made=$used
    measured zstd -q -f -d --long=31 --patch-from="$old" "$patch" -o "$work/theirs"
    peer "$1" "$file" zstd "$patch"
    if [ "$(size "$now")" -le $((bsdiff_mb * 1000000)) ]; then
      measured bsdiff "$old" "$now" "$patch"; made=$used
      measured bspatch "$old" "$work/theirs" "$patch"
      peer "$1" "$file" bsdiff "$patch"
    fi
    if [ -n "$fw_patcher" ]; then
      measured "$fw_patcher" create_diff "$old" "$now" "$patch"; made=$used
      measured "$fw_patcher" recreate "$old" "$patch" "$work/theirs"
      peer "$1" "$file" fw "$patch"
    fi
    rm -f "$patch" "$work/theirs"
  done
}

# bounds MODEL: what codes take in the patches of the last step, over their entropy, a line a file.
bounds() {
  local file
  for file in "${files[@]}"; do
    measured "$leveret" diff --explain "$work/before.$file" "$work/now.$file" -o "$work/explained"
    awk -v OFS='\t' -v model="$1" -v file="$file" '
      /^all with an entropy/ { print model, file, $(NF - 2), $(NF - 1), $NF; found = 1 }
      END { exit !found }' "$work/log" >>"$work/entropy" || fail "$1: no entropy of $file"
  done
}

# ---- tables ----

# sizes MODEL: every width, tolerance and file, means over the steps.
sizes() {
  printf '\n%s: patches of a step, in %% of the training file and of the export itself\n\n' "$1"
  echo '| bits | tolerance | patch, % of the training file | % of the export | export, % of the training file | export s | diff s | patch s | MB/s of both files, diff, patch | peak MB, export, diff, patch | AUC | less than the training file'"'"'s |'
  echo '|---|---|---|---|---|---|---|---|---|---|---|---|'
  awk -F '\t' -v model="$1" -v steps="$steps" '
    $1 == model {
      f = $3
      if (!(f in n)) order[++files] = f
      ++n[f]
      training[f] += $4; whole[f] += $5; patch[f] += $6
      made[f] += $8; diffed[f] += $11; patched[f] += $14
      for (i = 9; i <= 15; i += 3) if ($i > peak[f, i]) peak[f, i] = $i
      auc[f] += $16
    }
    END {
      for (i = 1; i <= files; ++i) {
        f = order[i]
        if (n[f] != steps || patch[f] <= 0) exit 1
        split(f == "training" ? "training file:–" : f, name, ":")
        both = 2 * whole[f] / 1e6
        printf "| %s | %s | %.2f %% | %s | %.1f %% | %.2f | %.2f | %.2f | %.0f, %.0f | %d, %d, %d | %.5f | %.1e |\n", name[1], name[2],
          100 * patch[f] / training[f], f == "training" ? "–" : sprintf("%.2f %%", 100 * patch[f] / whole[f]),
          100 * whole[f] / training[f], made[f] / steps, diffed[f] / steps, patched[f] / steps,
          both / (diffed[f] + .005), both / (patched[f] + .005), peak[f, 9], peak[f, 12], peak[f, 15],
          auc[f] / steps, (auc["training"] - auc[f]) / steps
      }
      if (files != 9) exit 1
    }' "$out/ship.tsv" || fail "$1: a cell is missing"
}

# table_4 MODEL: as in the paper.
table_4() {
  printf '\n%s: Table 4 of the paper, 16 bits; %% of the training file\n\n' "$1"
  echo '| what is sent | time to make, s | time to apply, s | peak MB | size | AUC |'
  echo '|---|---|---|---|---|---|'
  awk -F '\t' -v model="$1" -v steps="$steps" -v tolerance="${files[4]}" '
    function most(a, b) { return a > b ? a : b }
    $1 == model {
      f = $3
      whole[f] += 100 * $5 / $4 / steps; patch[f] += 100 * $6 / $4 / steps
      made[f] += $8 / steps; diffed[f] += $11 / steps; patched[f] += $14 / steps
      export[f] = most(export[f], $9); peak[f] = most(peak[f], most($12, $15)); auc[f] += $16 / steps
      ++n[f]
    }
    function line(what, make, apply, megabytes, size, score) {
      printf "| %s | %s | %s | %s | %.2f %% | %.5f |\n", what, make, apply, megabytes, size, score
    }
    END {
      if (n["training"] != steps || n["16:0"] != steps || n[tolerance] != steps) exit 1
      q = "16:0"; t = tolerance
      line("none: the training file", "–", "–", "–", 100, auc["training"])
      line("quantized", sprintf("%.2f", made[q]), "–", export[q], whole[q], auc[q])
      line("patch", sprintf("%.2f", diffed["training"]), sprintf("%.2f", patched["training"]), peak["training"], patch["training"], auc["training"])
      line("patch + quantized", sprintf("%.2f", made[q] + diffed[q]), sprintf("%.2f", patched[q]), most(export[q], peak[q]), patch[q], auc[q])
      line("patch + quantized, tolerance " substr(t, 4), sprintf("%.2f", made[t] + diffed[t]), sprintf("%.2f", patched[t]), most(export[t], peak[t]), patch[t], auc[t])
    }' "$out/ship.tsv" || fail "$1: a cell of Table 4 is missing"
}

# against MODEL: the last step, ours and others'.
against() {
  printf '\n%s: the last step beside others, in %% of the file; make s / apply s / peak MB; ≠: the result is another file\n\n' "$1"
  awk -F '\t' -v model="$1" '
    $1 == model {
      if (!($2 in file)) { file[$2]; order[++files] = $2 }
      if (!($3 in program)) { program[$3]; column[++programs] = $3 }
      cell[$2, $3] = sprintf("%.2f %%%s; %.1f / %.1f / %d", 100 * $5 / $4, $12 == "no" ? " ≠" : "", $7, $10, $8 > $11 ? $8 : $11)
    }
    END {
      head = "| file |"; rule = "|---|"
      for (j = 1; j <= programs; ++j) { head = head " " column[j] " |"; rule = rule "---|" }
      print head "\n" rule
      for (i = 1; i <= files; ++i) {
        line = "| " order[i] " |"
        for (j = 1; j <= programs; ++j) line = line " " ((order[i], column[j]) in cell ? cell[order[i], column[j]] : "–") " |"
        print line
      }
      if (files != 9) exit 1
    }' "$out/peers.tsv" || fail "$1: a file was not compared"
}

# aims MODEL: what of them holds.
aims() {
  printf '\n%s:\n' "$1"
  awk -F '\t' -v model="$1" -v steps="$steps" '
    FILENAME != ARGV[2] { if ($1 == model && $2 == steps) ours[$3] = $6; next }
    $1 != model || $3 == "leveret" || $12 == "no" { next }
    { ++n; if ($5 <= ours[$2]) worse = worse " " $3 " (" $2 ")" }
    END {
      if (n) print "- smaller than every other program'"'"'s: " (worse == "" ? "yes, " n " times" : "not than" worse)
    }' "$out/ship.tsv" "$out/peers.tsv"
  awk -F '\t' -v model="$1" '
    $1 == model { text = text ", " $2 " " $5 }
    END { print "- codes of what changed take, over their entropy: " substr(text, 3) }' "$work/entropy"
  awk -F '\t' -v model="$1" -v tolerance="${files[4]}" '
    $1 == model {
      if ($3 == "16:0") exact[$2] = $5
      if ($3 == "training") auc[$2] = $16
      if ($3 == tolerance) { ++n; size += $6 / exact[$2]; lost += auc[$2] - $16 }
      make = rate($11, 2 * $5, make); apply = rate($14, 2 * $5, apply)
    }
    function rate(seconds, bytes, least) { bytes /= 1e6 * (seconds + .005); return least == "" || bytes < least ? bytes : least }
    END {
      printf "- 16 bits with tolerance %s: %.2f %% of the 16-bit file, AUC less by %.1e\n", substr(tolerance, 4), 100 * size / n, lost / n
      printf "- the slowest patch is made at %.0f and applied at %.0f MB/s of both files\n", make, apply
    }' "$out/ship.tsv"
}

plot() {
  local model=$1 file parts=()
  for file in "${files[@]}"; do
    awk -F '\t' -v m="$model" -v f="$file" '$1 == m && $3 == f { print $2, 100 * $6 / $5 }' "$out/ship.tsv" >"$work/plot.$model.$file"
    [ -s "$work/plot.$model.$file" ] || fail "nothing to plot of $model, $file"
    parts+=("'$work/plot.$model.$file' using 1:2 with linespoints title '${file/:/ bits, tolerance }' noenhanced")
  done
  gnuplot <<PLOT || fail "gnuplot failed"
set terminal png size 1200,800
set output '$out/$model.png'
set title '$model: patches of $step examples after $base, in % of the file they make'
set logscale y
set grid
set xlabel 'step'
set ylabel '% of the file'
set key outside right
plot $(IFS=,; echo "${parts[*]}")
PLOT
}

# ---- what is run ----

for program in xdelta3 bsdiff bspatch zstd gnuplot; do
  if [ "$peers" = no ] && [ $program != gnuplot ]; then continue; fi
  command -v $program >/dev/null || fail "$program is not there (scripts/install-deps bench)"
done

options_of() { if [ "$1" = DeepFFM-k8 ]; then echo --heads one --ffm_k 8; fi; }
models=()
for model in default DeepFFM-k8; do if [[ $model =~ $only ]]; then models+=("$model"); fi; done
[ ${#models[@]} -gt 0 ] || fail "no model has a name like $only"

describe_machine
printf '%s rows, then %s steps of %s, gradual drift, %s worlds a million rows; %s thread(s) learn\n' "$base" "$steps" "$step" "$drift" "$threads"
printf '# model\tstep\tfile\ttraining bytes\tfile bytes\tpatch bytes\texport wall\tCPU s\tMB\tdiff wall\tCPU s\tMB\tpatch wall\tCPU s\tMB\tAUC\tlogloss\n' >"$out/ship.tsv"
printf '# model\tfile\tprogram\tfile bytes\tpatch bytes\tmake wall\tCPU s\tMB\tapply wall\tCPU s\tMB\tright\n' >"$out/peers.tsv"
for model in "${models[@]}"; do
  rows 0 "$base" >"$work/rows.vw"
  # shellcheck disable=SC2046  # options are words
  learn $(options_of "$model")
  for file in "${files[@]}"; do
    make_file "$file" ''
    cp "$work/now.$file" "$work/first.$file"
  done
  rows "$base" "$step" >"$work/next.vw"
  for ((number = 1; number <= steps; ++number)); do
    for file in "${files[@]}"; do mv "$work/now.$file" "$work/before.$file"; done
    mv "$work/next.vw" "$work/rows.vw"
    learn -i "$work/before.training"
    rows $((base + number * step)) "$step" >"$work/next.vw"
    one_step "$model" "$number"
  done
  chain "$model"
  if [ "$peers" = yes ]; then beside_others "$model"; fi
  bounds "$model"
  rm -f "$work"/patch.* "$work"/before.* "$work"/now.* "$work"/first.*
done
for model in "${models[@]}"; do
  sizes "$model"
  table_4 "$model"
  if [ "$peers" = yes ]; then against "$model"; fi
  aims "$model"
  plot "$model"
done
describe_load
