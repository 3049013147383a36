"""Whether two ranks have sent each other what they had to, and nothing else.

    calls.py CALLS METRICS BATCHES HALF [HALF]

CALLS.0 and CALLS.1 are what count_mpi.c wrote, METRICS what rank 0 wrote with --metrics; a batch's
sums are sent in two parts of HALF bytes, the lower one and the upper one where they differ. Each batch
has to be, on both ranks: the length of the input and the input, from rank 0; the other half's values,
both ways; the half's sums, both ways. So between a batch's sums, the end of its way forward, and the
next batch's input nothing travels: no gradient, no weight. And what rank 0 has sent until the last
batch are the bytes of its report.
"""
import json
import sys

calls, metrics, batches = sys.argv[1], sys.argv[2], int(sys.argv[3])
lower, upper = (int(sys.argv[4]), int(sys.argv[-1]))


def read(rank):
    for line in open(f"{calls}.{rank}"):
        what, peer, size = line.split()
        assert int(peer) == 1 - rank, line
        yield what, int(size)


def expect(got, wanted, where):
    if got != wanted:
        sys.exit(f"{where}: {got} instead of {wanted}")


logs = [list(read(rank)) for rank in (0, 1)]
# Learning begins where the first sums go.
begin = logs[0].index(("receive", lower)) - 2
expect(logs[1].index(("receive", upper)) - 2, begin, "messages before the first batch")
at = begin
for batch in range(batches):
    size = logs[0][at + 1][1]
    root = [("send", 8), ("send", size), ("receive", lower), ("send", upper), ("receive", upper),
            ("send", lower)]
    other = [("receive", 8), ("receive", size), ("receive", upper), ("send", lower),
             ("receive", lower), ("send", upper)]
    expect(logs[0][at:at + 6], root, f"rank 0, batch {batch}")
    expect(logs[1][at:at + 6], other, f"rank 1, batch {batch}")
    at += 6
sent = sum(size for what, size in logs[0][:at] if what == "send")
windows = [json.loads(line) for line in open(metrics)]
expect(sum(window["batches"] for window in windows), batches, "batches")
kinds = ("sums_bytes", "input_bytes", "other_bytes")
expect(sent, sum(window[kind] for window in windows for kind in kinds), "bytes of rank 0")
expect(sum(window["sums_bytes"] for window in windows), batches * (lower + upper), "bytes of sums")
