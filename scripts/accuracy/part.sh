# shellcheck shell=bash disable=SC2154 # data: of who sources it
# For scripts here that take --data DIR, to be sourced.

# part SET train|test: its file in $data, however it is packed; nothing where there is none.
part() {
  local file
  for file in "$data/$1/$2.vw.zst" "$data/$1/$2.vw.gz" "$data/$1/$2.vw"; do
    if [ -f "$file" ]; then echo "$file"; return; fi
  done
}
