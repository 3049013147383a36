#!/usr/bin/env bash
# Runs the README's two commands in full in a fresh Debian, which debootstrap makes.
#
#   scripts/check_debian.sh bookworm|trixie [--keep DIR] [--mirror URL]
#
# Needs root, debootstrap, 4 GB of disk, and the time of both commands and a few minutes. The Debian
# is made in a temporary folder (TMPDIR) and removed at the end; with --keep it is made in DIR, stays
# there, and is used again the next time. A compiler's warning is a failure. The last line is the
# last line of what ran. The exit code is 77 where this machine has no way to do it.
set -euo pipefail

usage() {
  echo "usage: scripts/check_debian.sh bookworm|trixie [--keep DIR] [--mirror URL]" >&2
  exit 2
}
suite='' root='' mirror=http://deb.debian.org/debian
while [ $# -gt 0 ]; do
  case $1 in
    bookworm | trixie) suite=$1 ;;
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
temporary=("$log")
trap 'rm -rf --one-file-system "${temporary[@]}"' EXIT
trap 'exit 1' HUP INT TERM
if [ -z "$root" ]; then
  root=$(mktemp -d)
  temporary+=("$root")
fi
mkdir -p "$root"
root=$(realpath "$root")

# What is mounted, by debootstrap too, is so for these processes alone, and they end with this one:
# nothing can stay mounted under a folder that is removed.
if [ ! -e "$root/made-by-check_debian" ]; then
  echo "== Make $suite in $root"
  unshare --mount --pid --kill-child --mount-proc \
    debootstrap --variant=minbase "$suite" "$root" "$mirror" >"$log" 2>&1 || {
    cat "$log" >&2
    echo "check_debian: debootstrap failed" >&2
    exit 1
  }
  touch "$root/made-by-check_debian"
fi
mkdir -p "$root/leveret"
find "$root/leveret" -mindepth 1 -maxdepth 1 ! -name 'build*' -exec rm -rf {} +
"$(dirname "$0")/tree" | tar -x --touch -C "$root/leveret"
cp /etc/resolv.conf "$root/etc/"

# in_debian COMMAND: with nothing of this machine's environment but its proxy, and with terminals of
# its own (/dev/ptmx gives out those of the pts beside it). CI=true: a Debian that was kept runs
# everything again.
in_debian() {
  unshare --mount --pid --kill-child --mount-proc="$root/proc" sh -c '
    mount -t devpts -o newinstance,ptmxmode=0666,mode=0620,gid=5 devpts "$0/dev/pts" &&
      exec chroot "$0" "$@"' \
    "$root" env -i HOME=/root \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin ${http_proxy:+http_proxy="$http_proxy"} CI=true \
    bash -c "cd /leveret && $1" </dev/null 2>&1
}

status=0
for command in ./scripts/demo ./scripts/test; do
  printf '\n== %s: %s\n' "$suite" "$command"
  in_debian "$command" | tee -a "$log" || status=$?
  [ $status -eq 0 ] || break
done
if [ $status -eq 0 ] && grep -n 'warning: ' "$log"; then
  echo "$suite: there were warnings" >&2
  exit 1
fi
printf '\n%s: %s\n' "$suite" "$(tail -n 1 "$log")"
exit $status
