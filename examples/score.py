"""score.py MODEL CONTEXT: what score.c does, in Python.

python3 score.py model.lvt user,page <requests
"""

import sys
from itertools import groupby

import leveret

model = leveret.Model.open(sys.argv[1])
with model.context(sys.argv[2]) as request:
    # Requests are separated by empty lines: the context's, then the candidates' lines.
    for is_request, lines in groupby(sys.stdin.buffer, lambda line: line != b"\n"):
        if is_request:
            request.set(next(lines))
            for probability in request.predict(list(lines)):
                print(f"{probability:.6f}")
            print()
