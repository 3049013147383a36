#!/usr/bin/python3
"""Towers over embeddings beside PyTorch: what a tower makes of examples, and the gradient of all that it
learns, computed again in 64 bits from the equations of the papers, with PyTorch's derivatives.

    tests/oracle/towers.py TOWER_DUMP

TOWER_DUMP writes models, examples and our numbers (tower_dump.cc). Each output and each gradient may differ by
1e-4 of the largest number of its kind: that of a layer, of an array, of an embedding. Each case is also computed
with the sign of one embedding changed, which must be seen. The exit code is 1 where anything differs, and the lines
say what. The interpreter is Debian's, which has python3-torch.
"""

import json
import subprocess
import sys

import torch

MOST = 1e-4

# Dimensions that fill no register, several towers side by side, sums and means, and features that have no embedding
# (--admit). With mixed heads a tower may learn by a loss of its own.
ONE = "--heads one --ffm_k 0 "
CASES = [
    ONE + "--embedding_dim 5 --tower mlp:hidden=6+4",
    ONE + "--embedding_dim 3 --pool mean --tower mlp:hidden=none",
    ONE + "--embedding_dim 5 --tower fm",
    ONE + "--embedding_dim 7 --pool mean --tower fm",
    ONE + "--embedding_dim 5 --tower fwfm",
    ONE + "--embedding_dim 8 --pool mean --tower fwfm",
    ONE + "--embedding_dim 3 --tower cross:layers=3",
    ONE + "--embedding_dim 5 --pool mean --tower cross:layers=2,hidden=7",
    ONE + "--embedding_dim 3 --tower cross2:layers=2,rank=3",
    ONE + "--embedding_dim 5 --pool mean --tower cross2:layers=3,rank=4,hidden=6+3",
    ONE + "--embedding_dim 5 --admit 3 --tower fm --tower mlp:hidden=6",
    ONE + "--embedding_dim 3 --admit 3 --pool mean --tower cross:layers=3 --tower mlp:hidden=8+4",
    ONE + "--embedding_dim 9 --tower cross2:layers=2,rank=16 --tower mlp:hidden=64+32",
    ONE + "--embedding_dim 5 --tower fwfm --tower fm --tower cross2:layers=1,rank=2 --tower cross:layers=1",
    ONE + "--embedding_dim 3 --tower autoint:layers=1,heads=1,dim=2",
    ONE + "--embedding_dim 5 --pool mean --tower autoint:layers=2,heads=3,dim=4,hidden=7",
    ONE + "--embedding_dim 4 --admit 3 --tower autoint:layers=3,heads=2,dim=8 --tower fm",
    ONE + "--embedding_dim 5 --tower dot:hidden=7",
    ONE + "--embedding_dim 3 --pool mean --admit 3 --tower dot:keep=products,hidden=none --tower fm",
    "--ffm_k 0 --embedding_dim 6 --tower dot:hidden=5,loss=own --tower dot:keep=products,hidden=4+3",
    "--ffm_k 0 --embedding_dim 5 --tower fwfm:loss=own --tower mlp:hidden=6 --tower cross:layers=2,loss=own",
]


DHEN = "--embedding_dim 6 --tower dhen:tokens=4,"
SETTINGS = {"attention": "heads=3,width=5", "convolution": "filters=2", "dot": "width=5", "product": "width=5",
            "mlp": "width=5", "experts": "width=5,experts=3"}
CASES += [ONE + DHEN + ",".join(filter(None, ("layers=1", SETTINGS.get(module), "modules=" + module)))
          for module in ("linear", "attention", "convolution", "cross", "dot", "product", "mlp", "experts")]
ALL = "width=5,heads=3,experts=3,filters=2,"
CASES += [
    ONE + DHEN + "heads=3,width=5,layers=1,shortcut=no,norm=no,modules=attention,hidden=7",
    ONE + DHEN + ALL + "layers=3,modules=attention+linear+dot/convolution+cross+experts/product+mlp+attention",
    ONE + DHEN + ALL + "layers=3,ensemble=weighted,modules=attention+linear+dot/convolution+cross+experts/product+mlp",
    ONE + DHEN + "heads=3,width=5,layers=3,ensemble=concat,modules=attention+linear/cross+dot/linear,hidden=7"
    " --pool mean --admit 3",
    "--ffm_k 0 " + DHEN + "width=5,modules=linear+dot,loss=own --tower fm",
]
# Some of the fields.
FOUR = ONE + "--field A --field B --field C --field D "
CASES += [
    FOUR + "--embedding_dim 5 --tower autoint:in=B+D,layers=2,heads=2,dim=3 --tower dot:in=C+A,hidden=7 --tower fm",
    FOUR + "--embedding_dim 3 --pool mean --tower dot:in=B+D,keep=products,hidden=4 --tower dot:in=B+C+D,hidden=none",
    ONE + "--embedding_dim 6 --field A --field B,C --field D --tower dhen:in=C+D,tokens=4,layers=2,modules=attention+linear"
    ",heads=3,width=5",
    ONE + "--embedding_dim 6 --field A --field C --tower dhen:in=C,tokens=2,width=5,layers=2,modules=linear+dot"
    " --numeric D,B",
]
# Dense numbers; those of B and D are features no more.
NUMERIC = " --numeric D,B"
CASES += [
    ONE + "--embedding_dim 5 --tower mlp:hidden=6" + NUMERIC,
    ONE + "--embedding_dim 5 --tower autoint:layers=2,heads=2,dim=3,hidden=7" + NUMERIC,
    ONE + "--embedding_dim 5 --tower dot:hidden=7 --tower dot:keep=products,hidden=none" + NUMERIC,
    ONE + DHEN + ALL + "layers=3,modules=attention+linear+dot/convolution+cross+experts/product+mlp" + NUMERIC,
    "--ffm_k 0 " + DHEN + "width=7,layers=1,modules=convolution+cross --tower fm --pool mean" + NUMERIC,
]


def dump_of(program, seed, options):
    """Options that come twice have their values in one, as in the file of a model."""
    values = {}
    words = options.split()
    for option, value in zip(words[::2], words[1::2]):
        values.setdefault(option, []).append(value)
    arguments = [word for option, value in values.items() for word in (option, " ".join(value))]
    done = subprocess.run([program, str(seed), *arguments], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)


def leaf(numbers):
    return torch.tensor(numbers, dtype=torch.float64, requires_grad=True)


class Oracle:
    """The model of a dump. `layers`, `arrays` and `rows` are what it learns."""

    def __init__(self, dump):
        self.dump = dump
        self.layers = {
            name: {what: leaf(numbers) for what, numbers in layer.items()}
            for name, layer in dump["layers"].items()
        }
        self.arrays = {name: leaf(numbers) for name, numbers in dump["arrays"].items()}
        self.rows = {name: leaf(numbers) for name, numbers in dump["rows"].items()}

    def embeddings(self, example):
        """A vector of each field: the sum of x v, or their mean weighted by |x|; leveret-model(7), TOWERS."""
        fields = []
        for features in example["fields"]:
            known = [(f["x"], self.rows[f["row"]]) for f in features if f["row"] is not None]
            e = torch.zeros(self.dump["dim"], dtype=torch.float64)
            for x, v in known:
                e = e + x * v
            if known and self.dump["pool"] == "mean":
                e = e / sum(abs(x) for x, _ in known)
            fields.append(e)
        return torch.stack(fields)

    def numbers(self, example):
        """x and sign(x) log(1 + |x|) of all numbers, standardised; leveret-model(7), NUMBERS."""
        x = torch.tensor(example["numbers"], dtype=torch.float64)
        u = torch.cat([x, torch.sign(x) * torch.log1p(torch.abs(x))])
        examples, *totals = self.dump["totals"]
        mean, squares = (torch.tensor(part, dtype=torch.float64) for part in (totals[:len(u)], totals[len(u):]))
        return ((u - mean) / torch.sqrt(squares / examples)).clamp(-5, 5)

    def number_token(self, tower, example):
        """DLRM's bottom MLP: Naumov et al. 2019, section 2.1.1."""
        name = tower["name"] + ".numbers"
        return self.affine(name + ".w", torch.relu(self.affine(name + ".v", self.numbers(example)))).unsqueeze(0)

    def affine(self, name, x):
        return torch.nn.functional.linear(x, self.layers[name]["weights"], self.layers[name]["bias"])

    def output(self, tower, x):
        """ReLU layers and a neuron, or the neuron alone."""
        for number in range(tower["hidden"]):
            x = torch.relu(self.affine(f"{tower['name']}.{number}", x))
        return self.affine(f"{tower['name']}.{tower['hidden']}", x).squeeze()

    def attended(self, tower, x):
        """Song et al. 2019, equations 5 to 8: tokens of all fields through layers of attention."""
        for number in range(tower["layers"]):
            layer = f"{tower['name']}.attention{number}"
            q, k, v, rest = (self.affine(layer + what, x) for what in (".q", ".k", ".v", ".r"))
            heads = [part.chunk(tower["heads"], dim=1) for part in (q, k, v)]
            made = [torch.softmax(q @ k.T, dim=1) @ v for q, k, v in zip(*heads)]
            x = torch.relu(torch.cat(made, dim=1) + rest)
        return x

    def mixed(self, name, x):
        """DHEN paper, equation 6; b of a token, if there is one, is added to all of its numbers."""
        made = self.layers[name]["weights"] @ x
        return made + self.layers[name]["bias"].unsqueeze(1) if len(self.layers[name]["bias"]) else made

    def normed(self, name, x):
        gain, bias = (self.arrays[name + what] for what in (".gain", ".bias"))
        return torch.nn.functional.layer_norm(x, x.shape[-1:], gain, bias, eps=1e-5)

    def encoded(self, name, x, heads):
        """Equation 4: PyTorch's own encoder layer, with our weights in its places."""
        dim, width = x.shape[1], len(self.layers[name + ".ffn1"]["bias"])
        encoder = torch.nn.TransformerEncoderLayer(dim, heads, width, dropout=0.0, batch_first=True).double()
        ours = {"self_attn.in_proj_weight": self.layers[name + ".qkv"]["weights"],
                "self_attn.in_proj_bias": torch.zeros(3 * dim, dtype=torch.float64),
                "self_attn.out_proj.weight": self.layers[name + ".o"]["weights"],
                "self_attn.out_proj.bias": torch.zeros(dim, dtype=torch.float64)}
        for theirs, layer in (("linear1", ".ffn1"), ("linear2", ".ffn2")):
            ours[theirs + ".weight"] = self.layers[name + layer]["weights"]
            ours[theirs + ".bias"] = self.layers[name + layer]["bias"]
        for norm in ("norm1", "norm2"):
            ours[norm + ".weight"] = self.arrays[f"{name}.{norm}.gain"]
            ours[norm + ".bias"] = self.arrays[f"{name}.{norm}.bias"]
        return torch.nn.utils.stateless.functional_call(encoder, ours, (x.unsqueeze(0),)).squeeze(0)

    def module(self, word, name, x, keys):
        """Tokens of tokens: DHEN paper, section 2.3, as the headers of our modules say."""
        if word == "linear":
            return self.mixed(name, x)
        if word == "attention":
            return self.mixed(name, self.encoded(name, x, int(keys["heads"])))
        if word == "convolution":
            filters = self.layers[name + ".filters"]
            weights = filters["weights"].reshape(-1, 1, 3, 3)
            images = torch.nn.functional.conv2d(x[None, None], weights, filters["bias"], padding=1)[0]
            return self.mixed(name, torch.relu(images).transpose(0, 1).reshape(-1, x.shape[1]))
        if word == "cross":
            return self.mixed(name + ".a", x) * self.mixed(name + ".c", x)
        if word == "dot":
            g, f = torch.tril_indices(len(x), len(x), offset=-1)
            made = self.affine(name + ".w", torch.relu(self.affine(name + ".v", (x[f] * x[g]).sum(dim=1))))
        elif word == "product":
            made = self.affine(name + ".w", self.mixed(name + ".sums", x).square().sum(dim=1))
        else:
            made = self.experts(name, x.flatten(), keys if word == "experts" else {"experts": 1, "top": 1})
        return made.reshape(-1, x.shape[1])

    def experts(self, name, x, keys):
        """Shazeer et al. 2017, equations 1 and 3 to 5, without noise."""
        shares = torch.ones(1, dtype=torch.float64)
        if int(keys["experts"]) > 1:
            scores = self.affine(name + ".gate", x)
            left_out = scores.argsort(descending=True)[int(keys["top"]):]
            shares = torch.softmax(scores.index_fill(0, left_out, -torch.inf), dim=0)
        made = [self.affine(f"{name}.expert{e}.v", torch.relu(self.affine(f"{name}.expert{e}.u", x)))
                for e in range(len(shares))]
        return (torch.stack(made) * shares.unsqueeze(1)).sum(dim=0)

    def dhen(self, tower, x):
        """DHEN paper, equations 1 and 2."""
        keys = dict(setting.split("=") for setting in tower["text"].split(":")[1].split(","))
        groups = [group.split("+") for group in keys["modules"].split("/")]
        for number in range(int(keys["layers"])):
            name = f"{tower['name']}.layer{number}"
            made = [self.module(word, f"{name}.{word}", x, keys) for word in groups[number % len(groups)]]
            if keys["ensemble"] == "concat":
                y = torch.cat(made)
            elif keys["ensemble"] == "weighted":
                y = (torch.stack(made) * self.arrays[name + ".ensemble"][:, None, None]).sum(dim=0)
            else:
                y = torch.stack(made).sum(dim=0)
            if keys["shortcut"] == "yes":
                grows = number == 0 and not tower["fields"]
                y = y + (x if len(x) == len(y) and not grows else self.mixed(name + ".shortcut", x))
            x = self.normed(name + ".norm", y) if keys["norm"] == "yes" else y
        return x

    def score(self, tower, example):
        e = self.embeddings(example)
        if tower["fields"]:
            e = e[tower["fields"]]
        name, kind, x0 = tower["name"], tower["kind"], e.flatten()
        # Instance normalisation, which is ours: sqrt(n) / sum x² over all features of fields.
        values = [feature["x"] for features in example["fields"] for feature in features]
        scale = len(values) ** 0.5 / sum(x * x for x in values)
        if kind == "fm":  # Rendle 2010, lemma 3.1, with values in e
            return scale * 0.5 * (e.sum(dim=0).square() - e.square().sum(dim=0)).sum()
        if kind == "fwfm":  # Pan et al. 2018, equation 4; r of f < g is number g (g - 1) / 2 + f
            g, f = torch.tril_indices(len(e), len(e), offset=-1)
            return scale * (self.arrays[name + ".r"] * (e[f] * e[g]).sum(dim=1)).sum()
        has_numbers = len(example["numbers"]) > 0
        if kind in ("autoint", "dot", "dhen") and has_numbers:
            e = torch.cat([self.number_token(tower, example), e])
        if kind == "autoint":
            return self.output(tower, self.attended(tower, e).flatten())
        if kind == "dot":  # Qu et al. 2016, equations 2, 3 and 8; of f < g as above
            g, f = torch.tril_indices(len(e), len(e), offset=-1)
            products = (e[f] * e[g]).sum(dim=1)
            kept = e if tower["keep"] == 0 else e[:1] if has_numbers else e[:0]
            return self.output(tower, torch.cat([kept.flatten(), products]))
        if kind == "dhen":
            return self.output(tower, self.dhen(tower, e).flatten())
        x = torch.cat([x0, self.numbers(example)]) if kind == "mlp" and has_numbers else x0
        for number in range(tower["layers"]):
            layer = f"{name}.cross{number}"
            if kind == "cross":  # Wang et al. 2017, equation 3: x_0 x' w + b + x; w has a constant, too
                w = self.layers[layer + ".w"]
                product = torch.outer(x0, x) @ w["weights"][0] + x0 * w["bias"]
                x = product + self.arrays[layer + ".b"] + x
            elif kind == "cross2":  # Wang et al. 2021, equation 4: x_0 * (U (V' x) + b) + x; so has V
                x = x0 * self.affine(layer + ".u", self.affine(layer + ".v", x)) + x
        return self.output(tower, x)

    def run(self):
        """Scores by tower and example, that of the joint head by example; and leaves gradients of the loss."""
        scores = {tower["name"]: [] for tower in self.dump["towers"]}
        joints, loss = [], torch.zeros((), dtype=torch.float64)
        for example in self.dump["examples"]:
            joint = torch.tensor(example["before_towers"], dtype=torch.float64)
            own = []
            for tower in self.dump["towers"]:
                score = self.score(tower, example)
                scores[tower["name"]].append(score)
                if tower["own_loss"]:
                    own.append(example["first"] + score)
                else:
                    joint = joint + score
            joints.append(joint)
            for z in [joint, *own]:
                loss = loss + example["importance"] * torch.nn.functional.softplus(-example["label"] * z)
        loss.backward()
        return scores, joints


def gradient(of):
    return torch.zeros_like(of) if of.grad is None else of.grad


def flat(layer):
    """Weights and biases in one."""
    return torch.cat([torch.as_tensor(layer[what], dtype=torch.float64).flatten() for what in ("weights", "bias")])


def quantities(dump):
    """Yields name, ours, the oracle's."""
    oracle, ours = Oracle(dump), dump["gradients"]
    scores, joints = oracle.run()
    examples = dump["examples"]
    for name, values in scores.items():
        yield f"output of {name}", [e["scores"][name] for e in examples], torch.stack(values)
    yield "joint score", [e["joint"] for e in examples], torch.stack(joints)
    for name, layer in oracle.layers.items():
        # Together: the errors of all examples may leave next to nothing of a lone bias.
        yield f"gradient of {name}", flat(ours["layers"][name]), flat(
            {what: gradient(values) for what, values in layer.items()}
        )
    for name, values in oracle.arrays.items():
        yield f"gradient of {name}", ours["arrays"][name], gradient(values)
    for name, values in oracle.rows.items():
        yield f"gradient of embedding {name}", ours["rows"][name], gradient(values)


def compare(dump):
    """The largest difference, relative to the largest number of its kind; how many kinds; those that differ."""
    worst, count, wrong = 0.0, 0, []
    for name, ours, theirs in quantities(dump):
        theirs = theirs.detach()
        largest = theirs.abs().max().item()
        difference = (torch.as_tensor(ours, dtype=torch.float64) - theirs).abs().max().item()
        count += 1
        # What is 0 in the oracle (an embedding whose neurons did not fire) is 0 here, too.
        relative = difference / largest if largest > 0 else float(difference > 0)
        worst = max(worst, relative)
        if not relative <= MOST:
            wrong.append(f"{name}: by {relative:.2g} of {largest:.3g}")
        # An expert that no example passes learns nothing, either.
        if largest == 0 and "embedding" not in name and ".expert" not in name:
            wrong.append(f"{name}: 0 everywhere, which says nothing")
    return worst, count, wrong


def with_a_sign_changed(dump):
    """The embedding that is most moved points the other way."""
    rows = dump["gradients"]["rows"]
    name = max(rows, key=lambda row: max(abs(number) for number in rows[row]))
    changed = {name: [-number for number in dump["rows"][name]]}
    return {**dump, "rows": {**dump["rows"], **changed}}


def main(program):
    failed = 0
    for options in CASES:
        for seed in (1, 2):
            dump = dump_of(program, seed, options)
            worst, count, wrong = compare(dump)
            if not compare(with_a_sign_changed(dump))[2]:
                wrong.append("the changed sign of an embedding is not seen")
            print(f"{'FAIL' if wrong else 'ok'}: {options}, seed {seed}: {count} compared, at most {worst:.1e}")
            for line in wrong:
                print(f"  {line}")
            failed += bool(wrong)
    return failed > 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
