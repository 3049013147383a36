#!/usr/bin/env bash
# Runs the README's two commands in a fresh Debian, which debootstrap makes.
#
#   scripts/check_debian.sh bookworm|trixie [--demo | --packages] [--user] [--keep DIR] [--mirror URL]
#
# Between them the program that the first has built runs every command line case. Needs root,
# debootstrap, 4 GB of memory or disk, and the time of both commands and a few minutes; with --demo it leaves
# out the second command, and objects are kept from one time to the next (ccache is then the one package that
# a bare Debian would not have). With --packages it makes packages instead, from a source tarball, as
# contrib/docker/Dockerfile does, looks at them (tests/packages/built), and installs and tries them in a
# second fresh Debian, which is never kept. With --user they run as a user who has sudo, else as root. The
# Debian is made in memory where there is room, else in a temporary folder (TMPDIR), and removed at the end;
# with --keep it is made in DIR, stays there, and is used again the next time. A warning is a failure. The last
# line is the last line of what ran. The exit code is 77 where this machine has no way to do it.
set -euo pipefail

usage() {
  echo "usage: scripts/check_debian.sh bookworm|trixie [--demo | --packages] [--user] [--keep DIR] [--mirror URL]" >&2
  exit 2
}
suite='' root='' mirror=http://deb.debian.org/debian who=root packages=no cache=''
here=$(cd "$(dirname "$0")/.." && pwd)
commands=(./scripts/demo "./tests/cli/run --leveret build/bin/leveret" ./scripts/test)
while [ $# -gt 0 ]; do
  case $1 in
    bookworm | trixie) suite=$1 ;;
    --demo)
      unset 'commands[2]'
      cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/leveret/ccache
      ;;
    --packages)
      packages=yes
      commands=("$("$here/tests/packages/dockerfile" run 1)" ./tests/packages/built)
      ;;
    --user) who=somebody ;;
    --keep | --mirror)
      [ $# -gt 1 ] || usage
      if [ "$1" = --keep ]; then root=$2; else mirror=$2; fi
      shift
      ;;
    *) usage ;;
  esac
  shift
done
[ -n "$suite" ] || usage

cannot() {
  echo "check_debian: $1" >&2
  exit 77
}
[ "$(id -u)" -eq 0 ] || cannot "run this as root: debootstrap and chroot ask for it"
command -v debootstrap >/dev/null || cannot "debootstrap is missing; apt-get install debootstrap"
unshare --mount true || cannot "this machine lets nobody mount anything"

log=$(mktemp)
quiet=$(mktemp)
temporary=("$log" "$quiet")
trap 'rm -rf --one-file-system "${temporary[@]}"' EXIT
trap 'exit 1' HUP INT TERM
memory=()
if folder=$("$here/scripts/memory_folder" 6000 noexec nodev nosuid); then memory=(-p "$folder"); fi
new_root() {
  root=$(mktemp -d ${memory[@]+"${memory[@]}"})
  temporary+=("$root")
  chmod 755 "$root"
}
[ -n "$root" ] || new_root
mkdir -p "$root"
root=$(realpath "$root")

# Runs a command whose output is read only when it fails.
quietly() {
  "$@" >"$quiet" 2>&1 || {
    cat "$quiet" >&2
    echo "check_debian: failed: $*" >&2
    exit 1
  }
}

# What is mounted, by debootstrap too, is so for these processes alone, and they end with this one:
# nothing can stay mounted under a folder that is removed.
make_debian() {
  [ ! -e "$root/made-by-check_debian" ] || return 0
  echo "== Make $suite in $root"
  quietly unshare --mount --pid --kill-child --mount-proc \
    debootstrap --variant=minbase ${cache:+--include=ccache} "$suite" "$root" "$mirror"
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
  # As the installer leaves it, which debootstrap is not: without it each look-up of localhost asks a server.
  printf '127.0.0.1\tlocalhost\n127.0.1.1\t%s\n' "$(hostname)" >"$root/etc/hosts"
  touch "$root/made-by-check_debian"
}

# in_debian USER COMMAND: with nothing of this machine's environment but its proxy, and with terminals
# of its own (/dev/ptmx gives out those of the pts beside it). MPI looks at processors in /sys.
# CI=true: a Debian that was kept runs everything again.
in_debian() {
  CACHE=$cache unshare --mount --pid --kill-child --mount-proc="$root/proc" sh -c '
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$0/dev/pts" &&
      mount --bind -o ro /sys "$0/sys" &&
      mount -t tmpfs -o mode=1777,exec tmpfs "$0/dev/shm" &&
      { [ -z "$CACHE" ] || mount --bind "$CACHE" "$0/ccache"; } &&
      exec chroot "$0" "$@"' \
    "$root" setpriv --reuid="$1" --regid="$1" --init-groups env -i HOME="$(home_of "$1")" \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    ${http_proxy:+http_proxy="$http_proxy"} ${compile[@]+"${compile[@]}"} CI=true \
    bash -c "cd /leveret && $2" </dev/null 2>&1
}
home_of() { if [ "$1" = root ]; then echo /root; else echo "/home/$1"; fi; }

# put_source: into the Debian, in place of what was there, but for what was built
put_source() {
  mkdir -p "$root/leveret"
  find "$root/leveret" -mindepth 1 -maxdepth 1 ! -name 'build*' -exec rm -rf {} +
  if [ $packages = yes ]; then
    tar -x -f "$tarball"/*.tar.gz --strip-components=1 -C "$root/leveret"
  else
    "$here/scripts/tree" | tar -x --touch -C "$root/leveret"
  fi
  cp /etc/resolv.conf "$root/etc/"
}

status=0
: >"$log"
# run USER COMMAND...: each, up to the first that fails
run() {
  local user=$1 command
  shift
  for command; do
    [ $status -eq 0 ] || return 0
    printf '\n== %s, as %s: %s\n' "$suite" "$user" "$command"
    in_debian "$user" "$command" | tee -a "$log" || status=$?
  done
}

if [ $packages = yes ]; then
  tarball=$(mktemp -d)
  temporary+=("$tarball")
  "$here/scripts/source-tarball" "$tarball"
fi
make_debian
put_source
if [ -n "$cache" ]; then
  # The same compiler makes the same objects, outside and in there.
  if [ $who = root ] && grep -qx "VERSION_CODENAME=$suite" /etc/os-release && command -v ccache >/dev/null; then
    cache=$(ccache --get-config cache_dir)
  else
    cache=$cache-$suite
  fi
  mkdir -p "$cache" "$root/ccache"
fi
if [ $who != root ] && [ ! -e "$root/home/$who" ]; then
  quietly in_debian root "apt-get update -qq && apt-get install -y -qq --no-install-recommends sudo &&
    useradd --create-home --shell /bin/bash $who &&
    echo '$who ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/$who"
fi
quietly in_debian root "chown -R $who: /leveret"
compile=()
if [ -n "$cache" ]; then
  quietly in_debian root "chown -R $who: /ccache"
  compile=(CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_DIR=/ccache CCACHE_BASEDIR=/leveret CCACHE_NOHASHDIR=1)
fi
run $who "${commands[@]}"

if [ $packages = yes ] && [ $status -eq 0 ]; then
  built=$root
  new_root
  make_debian
  put_source
  read -r files folder < <("$here/tests/packages/dockerfile" copy)
  mkdir -p "$root$folder" "$root/leveret/build-package"
  # shellcheck disable=SC2086 # a pattern
  cp "$built"$files "$root$folder"
  cp -r "$built/leveret/build-package/deb" "$root/leveret/build-package/"
  run root "$("$here/tests/packages/dockerfile" run 2)" ./tests/packages/image ./tests/packages/installed
fi
if [ $status -eq 0 ] && grep -nE '([Ww]arning|WARNING): |CMake.* Warning' "$log"; then
  echo "$suite: there were warnings" >&2
  exit 1
fi
printf '\n%s: %s\n' "$suite" "$(tail -n 1 "$log")"
exit $status
