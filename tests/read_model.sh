#!/bin/bash
# scripts/read_model.py, which is written from man/leveret-model.5 alone, sees in a model what
# `leveret inspect` sees, and predicts what `leveret predict` predicts: to 1e-5.
#   tests/read_model.sh LEVERET SOURCE_DIR
set -euo pipefail
leveret=$1
reader=$2/scripts/read_model.py
sample=$2/datasets/sample

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

zstd -dcq "$sample/train.vw.zst" >all_train
zstd -dcq "$sample/test.vw.zst" >all_test
head -n 6000 all_train >train
{
  head -n 300 all_test
  # What the sample does not have: values, strings, numbers as names, weights of namespaces,
  # anonymous features, initial predictions, tags, names that nobody knows, an empty line.
  cat <<'LINES'
1 2 0.5 'tag |A b0:0.5 b1:-3 |B b2 |a color:red 007 7 |never seen before
'tag |A:0.25 b0 b1 :2 :3 |c 12 x:1e-3
-1 |a
tag|B b1 |C b0 b0 b0 |E

|A b0 |A b1 |D
LINES
} >lines
# Values and several features in a field are learned, too.
sed 's/|A b0 /|A b0:0.5 b1 /; s/|B b2 /|B b2:3 /' train >valued

compare() { # MODEL NAME
  "$leveret" inspect "$1" --json >inspected.json
  python3 "$reader" "$1" --json >read.json
  "$leveret" predict -i "$1" -d lines -p predicted
  python3 "$reader" "$1" --predict lines >read
  python3 - "$2" <<'PYTHON'
import json, math, sys

inspected = json.load(open("inspected.json"))["sections"]
read = json.load(open("read.json"))
assert len(read) > 50 and len(read) == len(inspected), (len(read), len(inspected))
for a, b in zip(inspected, read):
    assert list(a) == list(b), (a, b)
    for key in a:
        same = a[key] == b[key]
        if isinstance(a[key], float):
            same = math.isclose(a[key], b[key], rel_tol=1e-6, abs_tol=1e-9)
        assert same, (a["name"], key, a[key], b[key])
predicted = [line.split() for line in open("predicted")]
lines = [line.split() for line in open("read")]
assert len(predicted) == len(lines) == 306, (len(predicted), len(lines))
worst = 0
for number, (a, b) in enumerate(zip(predicted, lines), 1):
    assert bool(a) == bool(b), number
    if a:
        difference = abs(float(a[0]) - float(b[0]))
        assert difference < 1e-5, (number, a, b)
        worst = max(worst, difference)
values = {float(line[0]) for line in predicted if line}
assert len(values) > 250, len(values)
print("%s: %d sections, 306 lines, at most %.1e away" % (sys.argv[1], len(read), worst))
PYTHON
}

"$leveret" train -d train --quiet -f plain.lvt
compare plain.lvt "the default model"
"$leveret" train -d valued --quiet --linear A,B,a,b,c --field A,B --field C --field a,D -f valued.lvt
compare valued.lvt "values, several features in a field, fields that are named"
# Memory that runs out: features share a cell and a row.
"$leveret" train -d train --quiet --max_memory 1 --admit 1 -f little.lvt 2>/dev/null
python3 "$reader" little.lvt >listed
grep -q overflow.rows listed
compare little.lvt "a model that has run out of memory"
"$leveret" train -d train --quiet --row_bits 32 --hidden 8,4 --ffm_k 3 -f floats.lvt
compare floats.lvt "floats, two hidden layers, k = 3"
for bits in 12 8 4; do
  "$leveret" train -d valued --quiet --row_bits $bits --embedding_dim 3 --tower fm:pairs=all -f few.lvt
  compare few.lvt "rows of $bits bits"
done
"$leveret" export -i few.lvt -o export.lvt --bits 8
compare export.lvt "an export of rows of 4 bits"
"$leveret" train -d valued --quiet --embedding_dim 4 --tower fm:pairs=all -f both.lvt
compare both.lvt "FFM and FM"
"$leveret" train -d valued --quiet --ffm_k 0 --embedding_dim 5 --tower fm:pairs=all --hidden none -f fm.lvt
compare fm.lvt "FM alone"

# Exports: codes of every width.
for bits in 16 8 4; do
  "$leveret" export -i plain.lvt -o export.lvt --bits $bits
  compare export.lvt "an export of $bits bits"
done
"$leveret" export -i floats.lvt -o export.lvt --bits 8 --min_count 3
compare export.lvt "an export of floats"

# The same lines by hashes.
printf '|A b0 |B b2:3\n' >text
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$2/scripts python3 -c '
from read_model import hash_of
a, b = (hash_of(name, hash_of(space, 0, False), False) for space, name in ((b"A", b"b0"), (b"B", b"b2")))
print("A:%d B:%d:3" % (a, b))' >hashed
cmp <(python3 "$reader" plain.lvt --predict text) <(python3 "$reader" plain.lvt --predict hashed --hashed)

# What is no model is refused with a message, not with a trace of calls.
for bad in lines <(head -c 100 plain.lvt) <(head -c 5000 plain.lvt) /dev/null; do
  if python3 "$reader" "$bad" >/dev/null 2>said; then exit 1; fi
  grep -q '^read_model.py: ' said
done
