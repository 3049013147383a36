# shellcheck shell=bash
# What `run` and `check` know of a patch: a text that says what a user would see, a line "Test: REGEX" with the tests
# of CTest that must fail, and a difference of files of src/.

# patches_of FOLDER [NAME...]: their files, by their names; all where none is named
patches_of() {
  local folder=$1 name
  shift
  if [ $# -eq 0 ]; then
    find "$folder" -maxdepth 1 -name '*.patch' | LC_ALL=C sort
    return
  fi
  for name; do
    name=$folder/$(basename "$name" .patch).patch
    if [ ! -e "$name" ]; then
      echo "$name: there is no such patch" >&2
      return 2
    fi
    echo "$name"
  done
}

name_of() { basename "$1" .patch; }
# What stands before the difference.
head_of() { sed '/^--- /,$d' "$1"; }
test_of() { head_of "$1" | sed -n 's/^Test: //p'; }

# Applies a patch in the folder at hand exactly as it is: its context is to be that of the file. Options of patch may
# follow.
apply() {
  local file=$1
  shift
  patch --strip=1 --fuzz=0 --force --silent --no-backup-if-mismatch --reject-file=- --input="$file" "$@"
}

# tests_that_match REGEX: those of the lines of standard input that a whole name matches
tests_that_match() { grep -xE "$1" || true; }
