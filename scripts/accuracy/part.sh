# shellcheck shell=bash disable=SC2154 # data, work, synth, rows: of who sources it
# For scripts here that take --data DIR, to be sourced: its sets, the configurations that models get, and tables in
# documents. $work is a folder for files.

# part SET train|test: its file in $data, however it is packed; nothing where there is none.
part() {
  local file
  for file in "$data/$1/$2.vw.zst" "$data/$1/$2.vw.gz" "$data/$1/$2.vw"; do
    if [ -f "$file" ]; then echo "$file"; return; fi
  done
}

# find_sets REGEX: fills `sets` with the sets in $data, by folder, and with "generated", of $rows rows by $synth, as
# far as each is given and matches; the end where there is none.
find_sets() {
  local folder name
  sets=()
  if [ -n "$data" ]; then
    for folder in "$data"/*/; do
      name=$(basename "$folder")
      if [[ $name =~ $1 ]] && [ -n "$(part "$name" train)" ] && [ -n "$(part "$name" test)" ]; then
        sets+=("$name")
      fi
    done
  fi
  if [ -n "$synth" ] && [[ generated =~ $1 ]]; then
    sets+=(generated)
    "$synth" --quiet --rows "$rows" >"$work/generated.vw"
  fi
  if [ ${#sets[@]} -eq 0 ]; then
    echo "$data: no folder with train.vw and test.vw in it" >&2
    exit 1
  fi
}

# files_of SET: its files, a line each, in the order of learning.
files_of() {
  if [ "$1" = generated ]; then echo "$work/generated.vw"; else part "$1" train; part "$1" test; fi
}

has_rows() { [ "$1" != lr ]; }
has_layers() { case $1 in lr | fm | ffm) return 1 ;; esac; }

# options_of MODEL HEADS LINEAR ROWS LAYERS: a line of configurations.txt, as far as the model of --model has it.
options_of() {
  local options="--heads $2 --learning_rate $3"
  if has_rows "$1"; then options+=" --ffm_learning_rate $4"; fi
  if has_layers "$1"; then options+=" --nn_learning_rate $5"; fi
  echo "$options"
}

# put_table NAME TABLE [FILE]: the file TABLE into FILE between the lines "<!-- NAME begin -->" and
# "<!-- NAME end -->"; without FILE to standard output.
put_table() {
  local name=$1 table=$2 file=${3-} part
  if [ -z "$file" ]; then
    cat "$table"
    return
  fi
  for part in begin end; do
    if ! grep -q "^<!-- $name $part -->\$" "$file"; then
      echo "$file: the line <!-- $name $part --> is missing" >&2
      exit 1
    fi
  done
  sed -e "/^<!-- $name begin -->\$/r $table" \
    -e "/^<!-- $name begin -->\$/,/^<!-- $name end -->\$/{/^<!--/!d}" "$file" >"$work/updated"
  cat "$work/updated" >"$file"
}
