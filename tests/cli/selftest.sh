#!/usr/bin/env bash
# The case runner must fail on each kind of difference, and --update must mend it.
set -euo pipefail
run=$(cd "$(dirname "$0")" && pwd)/run
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export LEVERET_CLI_CASES=$work/cases
mkdir -p "$work/cases/group/prints"
case_dir=$work/cases/group/prints
cat >"$case_dir/cmd" <<'CMD'
echo out
steady bash -c 'echo "done in 1.25 s, 12,345 examples/s, 9.1 MiB" >&2; exit 3'
CMD

die() {
  echo "selftest: $*" >&2
  exit 1
}
passes() { "$run" --leveret /bin/true "$@" >"$work/log" 2>&1; }

passes && die "passed without any expected text"
passes --update || die "--update failed"
passes || die "failed right after --update"
[ "$(cat "$case_dir/stdout")" = out ] || die "stdout was not stored"
[ "$(cat "$case_dir/stderr")" = "done in * s, * examples/s, * MiB" ] || die "steady: $(cat "$case_dir/stderr")"
[ "$(cat "$case_dir/exit")" = 3 ] || die "exit status was not stored"
for name in stdout stderr exit; do
  cp "$case_dir/$name" "$work/kept"
  echo other >"$case_dir/$name"
  passes && die "a wrong $name passed"
  rm "$case_dir/$name"
  passes && die "a missing $name passed"
  cp "$work/kept" "$case_dir/$name"
done
passes group/prints || die "a case by name failed"
passes no/such && die "a case that does not exist passed"
echo "selftest: ok"
