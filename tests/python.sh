#!/usr/bin/env bash
# The Python package as its users have it: installed by pip into a virtual environment, without a
# network, and tested with pytest from there. The interpreter is Debian's, which has its packages.
#
#   tests/python.sh LEVERET LIBRARY [sklearn]
#
# sklearn: what needs scikit-learn and pandas; 77, skipped, where they are not installed. Else the rest.
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/.." && pwd)
export LEVERET=$1 LEVERET_LIBRARY=$2
part=${3:-}
if [ "$part" = sklearn ] && ! /usr/bin/python3 -c 'import sklearn, pandas' 2>/dev/null; then
  echo "skipped: no python3-sklearn or no python3-pandas here"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$source_dir/python" "$work/source"
cd "$work"
/usr/bin/python3 -m venv --system-site-packages venv
# No index: what is not here is missing, and is not fetched.
venv/bin/pip install --quiet --no-index --disable-pip-version-check ./source
mkdir tests
cp "$source_dir/python/tests/"*.py tests
# The tests' own path leads to the sources: only the package is there.
export LEVERET_SAMPLE=$source_dir/datasets/sample PYTHONDONTWRITEBYTECODE=1
venv/bin/python -c 'import leveret, sys; sys.exit(not leveret.__file__.startswith(sys.prefix))'
if [ "$part" = sklearn ]; then
  venv/bin/python -m pytest -q -p no:cacheprovider tests/test_sklearn.py
else
  # What docs/libraries.md shows of learning, with the names that it takes for granted.
  {
    echo 'import leveret, numpy'
    echo 'labels, clicks = [1, -1], [1, 0] * 50'
    echo 'frame = numpy.array([["u1", "a1"], ["u2", "a2"]] * 50, object)'
    sed -n '/^    learner = leveret/,/^    classifier.predict/s/^    //p' "$source_dir/docs/libraries.md"
  } >readme.py
  grep -q '^classifier.predict' readme.py
  venv/bin/python readme.py
  venv/bin/python -m pytest -q -p no:cacheprovider tests --ignore tests/test_sklearn.py
fi
