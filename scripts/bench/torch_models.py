#!/usr/bin/python3
"""Learns VW text with PyTorch on one core, as torch.sh asks, and prints examples a second.

    torch_models.py FILE ROWS BATCH DIM MODEL
    torch_models.py --describe

The models are those of torch.sh: linear weights and embeddings in one table, with sparse AdaGrad, and layers behind
them with AdaGrad. Reading the text and giving features their rows is not in the time; making batches of tensors that
lie in memory is. Values are 1, as generated rows have them, and each field has one feature or none.
"""

import sys
import time

import torch
from torch import nn

torch.set_num_threads(1)


def mlp(inputs, widths):
    layers = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers, nn.Linear(inputs, 1))


class Layers(nn.Module):
    """--tower mlp:hidden=64+32"""

    def __init__(self, fields, dim):
        super().__init__()
        self.mlp = mlp(fields * dim, (64, 32))

    def forward(self, e):
        return self.mlp(e.flatten(1))


class Dcnv2(Layers):
    """--tower cross2:layers=2,rank=16 --tower mlp:hidden=64+32: Wang et al. 2021, equation 2."""

    def __init__(self, fields, dim):
        super().__init__(fields, dim)
        self.down = nn.ModuleList(nn.Linear(fields * dim, 16, bias=False) for _ in range(2))
        self.up = nn.ModuleList(nn.Linear(16, fields * dim) for _ in range(2))
        self.out = nn.Linear(fields * dim, 1)

    def forward(self, e):
        first = x = e.flatten(1)
        for down, up in zip(self.down, self.up):
            x = torch.addcmul(x, first, up(down(x)))
        return self.out(x) + super().forward(e)


class Dlrm(nn.Module):
    """--tower dot:keep=products,hidden=64+32"""

    def __init__(self, fields, dim):
        super().__init__()
        self.mlp = mlp(fields * (fields - 1) // 2, (64, 32))
        g, f = torch.tril_indices(fields, fields, offset=-1)
        self.pairs = g * fields + f

    def forward(self, e):
        products = torch.bmm(e, e.transpose(1, 2)).flatten(1)
        return self.mlp(products.index_select(1, self.pairs))


class Attention(nn.Module):
    """The module attention: PyTorch's encoder layer, and a mix of its tokens."""

    def __init__(self, tokens, dim, made):
        super().__init__()
        self.dim, self.heads = dim, 4
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.join = nn.Linear(dim, dim, bias=False)
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.wide, self.narrow = nn.Linear(dim, 64), nn.Linear(64, dim)
        self.mix = nn.Linear(tokens, made)

    def forward(self, x):
        examples, tokens, dim = x.shape
        q, k, v = self.qkv(x).view(examples, tokens, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(2, 3) * (dim // self.heads) ** -0.5, dim=3)
        y = self.norm1(x + self.join((weights @ v).transpose(1, 2).reshape(examples, tokens, dim)))
        z = self.norm2(y + self.narrow(torch.relu(self.wide(y))))
        return self.mix(z.transpose(1, 2)).transpose(1, 2)


class DhenLayer(nn.Module):
    def __init__(self, tokens, dim, made, linear):
        super().__init__()
        self.attention = Attention(tokens, dim, made)
        self.linear = nn.Linear(tokens, made) if linear else None
        self.shortcut = nn.Linear(tokens, made, bias=False) if tokens != made else None
        self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        turned = x.transpose(1, 2)
        sums = self.attention(x)
        if self.linear is not None:
            sums = sums + self.linear(turned).transpose(1, 2)
        return self.norm(sums + (x if self.shortcut is None else self.shortcut(turned).transpose(1, 2)))


class Dhen(nn.Module):
    """--tower dhen:layers=N,modules=attention+linear,heads=4"""

    def __init__(self, fields, dim, layers, linear):
        super().__init__()
        self.layers = nn.Sequential(*(DhenLayer(16 if l else fields, dim, 16, linear) for l in range(layers)))
        self.out = nn.Linear(16 * dim, 1)

    def forward(self, e):
        return self.out(self.layers(e).flatten(1))


MODELS = {
    "layers": Layers,
    "dcnv2": Dcnv2,
    "dlrm": Dlrm,
    "attention": lambda fields, dim: Dhen(fields, dim, 1, False),
    "dhen": lambda fields, dim: Dhen(fields, dim, 4, True),
}


def read(path, rows):
    """Labels, a row of the table for each field, and how many rows it has. Row 0 is that of a field without feature."""
    labels, examples, fields, known = [], [], {}, {}
    with open(path, encoding="ascii") as lines:
        for line, _ in zip(lines, range(rows)):
            label, *words = line.replace("|", "").split()
            labels.append(float(label) > 0)
            examples.append([(fields.setdefault(field, len(fields)), known.setdefault((field, name), len(known) + 1))
                             for field, name in zip(words[::2], words[1::2])])
    features = torch.zeros(rows, len(fields), dtype=torch.int64)
    for row, example in enumerate(examples):
        for field, number in example:
            features[row, field] = number
    return torch.tensor(labels, dtype=torch.float32), features, len(known) + 1


def describe():
    """What PyTorch was built with, and the BLAS that it has; fails where that is not OpenBLAS."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        blas = {line.split()[-1] for line in maps if "openblas" in line or "/libblas" in line or "mkl_core" in line}
    print(f"PyTorch {torch.__version__}", *torch.__config__.show().splitlines()[1:-1], sep="\n  ")
    print("  BLAS:", *sorted(blas))
    if not any("openblas" in name for name in blas):
        sys.exit("PyTorch does not have OpenBLAS here: no ratio says anything")


def learn(path, rows, batch, dim, name):
    """Examples a second of one pass, the first batch left out."""
    torch.manual_seed(1)
    labels, features, known = read(path, rows)
    table = nn.Embedding(known, dim + 1, sparse=True, padding_idx=0)  # a linear weight, and an embedding
    nn.init.uniform_(table.weight[1:], -0.1, 0.1)
    layers = MODELS[name](features.shape[1], dim)
    steps = (torch.optim.Adagrad(table.parameters(), lr=0.05), torch.optim.Adagrad(layers.parameters(), lr=0.02))
    loss_of = nn.BCEWithLogitsLoss()
    start = time.perf_counter()
    for first in range(0, rows, batch):
        found = table(features[first:first + batch])
        score = found[:, :, 0].sum(dim=1) + layers(found[:, :, 1:].contiguous()).squeeze(1)
        loss = loss_of(score, labels[first:first + batch])
        for step in steps:
            step.zero_grad(set_to_none=True)
        loss.backward()
        for step in steps:
            step.step()
        if first == 0:
            start = time.perf_counter()
    return (rows - batch) / (time.perf_counter() - start)


def main():
    if sys.argv[1:] == ["--describe"]:
        return describe()
    path, rows, batch, dim, name = sys.argv[1:]
    print(f"{learn(path, int(rows), int(batch), int(dim), name):.0f}")
    return None


if __name__ == "__main__":
    main()
