"""learn.py MODEL [OPTION...]: learns VW text of standard input as `leveret train -f MODEL OPTION...`
does, into the same file, and says on the way what its predictions are worth.

zstdcat train.vw.zst | python3 learn.py model.lvt --ffm_k 8
"""

import sys
from itertools import islice

import leveret

learner = leveret.Learner(sys.argv[2:])
while lines := list(islice(sys.stdin.buffer, 10000)):
    learner.learn(lines)
    print(f"{learner.lines} lines, logloss {learner.metrics.logloss:.6f}")
learner.save(sys.argv[1])
