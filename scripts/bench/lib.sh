# What the benchmark scripts share; sourced.
# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034  # variables belong to the scripts that source this

# OpenBLAS takes some newer Xeons for a Prescott; FW's dense layers are four times as slow then.
openblas=${OPENBLAS_CORETYPE:-}
if [ -z "$openblas" ]; then
  openblas=Haswell
  if grep -qw avx512bw /proc/cpuinfo 2>/dev/null; then openblas=SkylakeX; fi
fi

# median COLUMN FILE FORMAT: "thousands" writes 123456 as 123.5 k.
median() {
  cut -d ' ' -f "$1" "$2" | sort -g | awk -v format="$3" '
    { x[NR] = $1 }
    END {
      m = NR % 2 ? x[(NR + 1) / 2] : (x[NR / 2] + x[NR / 2 + 1]) / 2
      if (format == "thousands") printf "%.1f k", m / 1000; else printf format, m
    }'
}

# has SIMD: whether this machine runs it
has() { LEVERET_SIMD=$1 "$leveret" --version >"$work/version" 2>&1; }

# namespaces_of FILE: those that the first rows have, in order, one a line
namespaces_of() {
  sed 2000q "$1" | awk '{ for (i = 2; i <= NF; ++i) if ($i ~ /^\|./) { sub(/:.*/, "", $i); seen[substr($i, 2)] } }
                        END { for (n in seen) print n }' | sort -V
}

# write_requests ROWS CONTEXT CANDIDATES FOLDER: requests of so many candidates. The fields CONTEXT (a,b)
# of a request are one row's, the candidates' others are those of the next rows. FOLDER gets `lines`, a
# whole line a candidate, and `blocks`, as --context_lines has them.
write_requests() {
  awk -v context="$2" -v candidates="$3" -v lines="$4/lines" -v blocks="$4/blocks" '
    BEGIN { n = split(context, list, ","); for (i = 1; i <= n; ++i) in_context["|" list[i]] = 1 }
    function part(which,  i, name, text, on) {
      for (i = 2; i <= NF; ++i) {
        if ($i ~ /^\|/) { name = $i; sub(/:.*/, "", name); on = (name in in_context) == which }
        if (on) text = text " " $i
      }
      return text
    }
    (NR - 1) % (candidates + 1) == 0 {
      if (NR > 1) print "" >blocks
      now = part(1)
      print now >blocks
      next
    }
    { own = part(0); print own >blocks; print now own >lines }' "$1"
}

# fw_namespaces FILE FOLDER: FW wants the namespaces in a file beside the data. Fills `fw_fields` and
# `fw_base`, the options of every FW model.
fw_namespaces() {
  local n
  fw_fields=()
  fw_base=("$fw" --adaptive --sgd --link logistic --loss_function logistic --hash all)
  while read -r n; do
    fw_base+=(--keep "$n")
    fw_fields+=(--ffm_field "$n")
    printf '%s,n%s\n' "$n" "$n" >>"$2/vw_namespace_map.csv"
  done < <(namespaces_of "$1" | sort)
}

# fw_deep K HIDDEN [RATE [LINEAR LAYERS POWER]]: fills `theirs` with FW's options for a DeepFFM; an FFM when
# HIDDEN is "none", linear when K is 0. RATE is the FFM's, POWER all parts'.
fw_deep() {
  local layer=0 width
  theirs=(-l "${4-.05}" --power_t "${6-.5}")
  [ "$1" != 0 ] || return 0
  theirs+=("${fw_fields[@]}" --ffm_k "$1" --ffm_learning_rate "${3-.1}" --ffm_power_t "${6-.45}")
  [ "$2" != none ] || return 0
  for width in ${2//,/ }; do
    theirs+=(--nn "$layer:width:$width" --nn "$layer:activation:relu" --nn "$layer:init:hu")
    layer=$((layer + 1))
  done
  theirs+=(--nn_layers "$layer" --nn_learning_rate "${5-.02}" --nn_power_t "${6-.45}" --nn_topology one)
}

describe_machine() {
  printf 'CPU: %s, %s cores; L2 %s, L3 %s\n' "$(lscpu | sed -n 's/^Model name: *//p')" "$(nproc)" \
    "$(lscpu | sed -n 's/^L2 cache: *//p')" "$(lscpu | sed -n 's/^L3 cache: *//p')"
  "$leveret" --version
  describe_load
}

describe_load() {
  local load
  load=$(cut -d ' ' -f 1 /proc/loadavg)
  printf 'Load: %s on %s cores%s\n' "$load" "$(nproc)" \
    "$(awk -v l="$load" -v n="$(nproc)" 'BEGIN { if (l > n / 2) print "; others are at work: PROVISIONAL" }')"
}

# read_roofline: the bounds of one core, in GB/s and GFLOP/s.
read_roofline() {
  local figures
  figures=$(taskset -c "$cpu" "$roofline")
  printf '%s\n' "$figures" | sed 's/^/roofline: /'
  random_rows=$(printf '%s\n' "$figures" | awk -F '\t' '/random rows of 624 bytes, read\+write/ { print $2 }')
  flops=$(printf '%s\n' "$figures" | awk -F '\t' '/^multiply-add/ { print $2 }')
}

# case_costs OPTIONS: bytes of tables read and written, and FLOPs, of learning from one row of $data,
# "bytes flops". Counted on the rows themselves: a feature has an FFM row from its second sight on.
#   row        fields * k weights of 16 bits and one of 16 per slice of k for AdaGrad, read and written
#   cell       a linear feature's cache line, read and written
#   pair       2k forward; both sides' gradient 2k, sum of squares 4k, step 4k
#   dense      2 per weight forward; 2 backward and 6 for AdaGrad in the half of the rows that fire
case_costs() {
  local k=4 hidden=32 precision=16
  while [ $# -gt 0 ]; do
    case $1 in
      --ffm_k) k=$2; shift ;; --hidden) hidden=$2; shift ;; --row_bits) precision=$2; shift ;;
    esac
    shift
  done
  [ "$k" != 0 ] || hidden=none
  if [ ! -f "$work/counts" ]; then
    awk '{ n = rows = 0
           for (i = 2; i <= NF; ++i) if ($i ~ /^\|/) name = $i; else { ++n; if (seen[name, $i]++ > 0) ++rows }
           features += n; present += rows; pairs += rows * (rows - 1) / 2 }
         END { print features / NR, present / NR, pairs / NR }' "$data" >"$work/counts"
  fi
  awk -v F="$fields" -v k="$k" -v hidden="$hidden" -v weight=$((precision / 8)) '{
    bytes = 2 * 64 * $1
    flops = 8 * $1
    if (k > 0) {
      bytes += 2 * $2 * F * weight * (k + 1)
      flops += 12 * k * $3
    }
    inputs = F * (F + 1) / 2 + F + 1
    if (hidden != "none") {
      layers = split(hidden, width, ",")
      for (l = 1; l <= layers; ++l) { flops += (2 + .5 * 8) * inputs * width[l]; inputs = width[l] }
    }
    print bytes, flops
  }' "$work/counts"
}
