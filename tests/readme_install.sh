#!/usr/bin/env bash
# README's commands and those of docs/libraries.md as they are typed, in the checkout, up to C and Python
# programs that score with what was installed to /usr/local: they run and print what the pages say, and nothing stays in the checkout
# but what .gitignore names.
#
#   tests/readme_install.sh BUILD [--update]
#
# --update writes what is printed now into docs/libraries.md.
# All of it happens in a mount namespace of its own, where /usr/local, /etc and the checkout can be
# written and are thrown away. Exit 77: nobody may mount here.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$1" && pwd)
. "$root/tests/readme_blocks.sh"

cannot() {
  echo "readme_install: $1"
  exit 77
}
update=${2-}
if [ "${3-}" != inside ]; then
  [ "$(id -u)" -eq 0 ] || cannot "run this as root, which may mount"
  unshare --mount true 2>/dev/null || cannot "this machine lets nobody mount anything"
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  unshare --mount "$0" "$build" "$update" inside "$work"
  exit
fi
work=$4
mount -t tmpfs tmpfs "$work"
mkdir "$work/checkout" && mount --bind "$root" "$work/checkout"
# writable FOLDER: what is written below it from here on goes with the namespace
layers=0
writable() {
  layers=$((layers + 1))
  mkdir -p "$work/$layers/new" "$work/$layers/work"
  mount -t overlay overlay -o "lowerdir=$1,upperdir=$work/$layers/new,workdir=$work/$layers/work" "$1" ||
    cannot "no overlay over $1"
}
writable /usr/local
writable /etc
[ ! -d /var/cache/ldconfig ] || writable /var/cache/ldconfig
writable "$root"
case $build in "$root"/*) ;; *) writable "$build" ;; esac
[ "$build" = "$root/build" ] || { mkdir -p "$root/build" && mount --bind "$build" "$root/build"; }

# As a user's shell: Debian's Python, no library named, no network, sudo even where there is none.
mkdir "$work/bin" "$work/home"
printf '#!/bin/sh\nexec "$@"\n' >"$work/bin/sudo"
chmod +x "$work/bin/sudo"
unset LEVERET_LIBRARY LD_LIBRARY_PATH PYTHONPATH PYTHONDONTWRITEBYTECODE PKG_CONFIG_PATH DESTDIR
export PATH=$work/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin HOME=$work/home LC_ALL=C
export PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1

cd "$root"
checkout() { find . -path ./.git -prune -o -path './build*' -prune -o -print | sort; }
checkout >"$work/before"
cp /etc/ld.so.cache "$work/cache"
{ block session README.md && block installed docs/libraries.md; } >"$work/expected"
grep -q '^\$ sudo cmake --install build' "$work/expected"
commands "$work/expected" >"$work/commands"
bash "$work/commands" >"$work/got" 2>&1 </dev/null
if [ "$update" = --update ]; then
  sed -n '/^\$ sudo cmake --install/,$p' "$work/got" >"$work/installed"
  put_block installed "$work/checkout/docs/libraries.md" "$work/installed"
  exit
fi
diff -u --label "README.md, docs/libraries.md" --label "what it prints" "$work/expected" "$work/got"
echo "ok   README's commands, and those of docs/libraries.md"

failed=0
check() { # check WHAT COMMAND...
  local what=$1
  shift
  if "$@" >"$work/out" 2>&1; then
    echo "ok   $what"
  else
    echo "FAIL $what"
    cat "$work/out"
    failed=1
  fi
}
checkout >"$work/after"
# Those two are in .gitignore.
comm -13 "$work/before" "$work/after" | grep -vE '\.lvt$|/__pycache__(/|$)' >"$work/left" || true
check "nothing stays in the checkout" cmp "$work/left" /dev/null
check "the program is found" sh -c 'cd / && [ "$(command -v leveret)" = /usr/local/bin/leveret ] && leveret --version'
check "and its pages" sh -c 'man -w leveret leveret-train 2>/dev/null ||
  test -s /usr/local/share/man/man1/leveret.1 -a -s /usr/local/share/man/man1/leveret-train.1'
check "pip knows the package" build/venv/bin/pip show leveret
check "it can be installed to be worked on" sh -c 'build/venv/bin/pip install --quiet --editable ./python &&
  build/venv/bin/python -c "import leveret; assert \"python/leveret\" in leveret.__file__"'

# Where nobody ran ldconfig, Python finds the library all the same.
cp "$work/cache" /etc/ld.so.cache
check "Python looks into /usr/local" sh -c '! build/score model.lvt A build/request 2>/dev/null &&
  build/venv/bin/python -c "import leveret"'
check "a package's files leave the loader alone" sh -c "DESTDIR='$work/package' cmake --install build &&
  find '$work/package/usr/local' -name libleveret.so.0 | grep . && cmp /etc/ld.so.cache '$work/cache'"
check "so does another folder, which is named" sh -c "cmake --install build --prefix '$work/elsewhere' |
  grep 'rpath,$work/elsewhere/lib' && cmp /etc/ld.so.cache '$work/cache'"
rm /usr/local/lib/libleveret.so*
check "where there is none, Python says what to do" sh -c 'build/venv/bin/python -c "import leveret" 2>&1 |
  grep -F "ImportError: libleveret cannot be loaded: install it (cmake --install build), run ldconfig, or"'
exit $failed
