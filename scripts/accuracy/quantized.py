#!/usr/bin/env python3
"""What quantized.sh makes of its runs: a line of figures of each, tables, and what gnuplot draws.

    quantized.py run RUN.json INSPECT.json WINDOWS.json       figures of a run, separated by tabs
    quantized.py codec RUN.json INSPECT.json THREADS.json     the same of a run of --codecs
    quantized.py TABLE RESULTS.tsv PLOT                       the table; PLOT.plot draws it as PLOT.png
"""
import json
import math
import os
import statistics
import sys

# Of Student's t, the bounds of 95 %, by degrees of freedom.
T = [0, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def figures(run, model):
    return [run["logloss"], run["auc"], model["bytes"], model["linear"]["features"], run["examples_per_second"]]


def of_run(run, model, windows):
    with open(windows, encoding="utf-8") as file:
        auc = [json.loads(line).get("auc") for line in file]
    numbers = figures(read(run), read(model)) + [",".join("-" if a is None else f"{a:.6f}" for a in auc)]
    print(*numbers, sep="\t")


def of_codec(run, model, threads):
    print(*figures(read(run), read(model)), read(threads)["examples_per_second"], sep="\t")


class Run:
    def __init__(self, line):
        (self.set, self.model, times, seed, bits, self.rounding, span, rows, window, logloss, auc, size, _, rate,
         windows) = line.rstrip("\n").split("\t")
        self.times, self.seed, self.bits, self.range = int(times), int(seed), int(bits), float(span)
        self.rows, self.window, self.size = int(rows), int(window), int(size)
        self.logloss, self.auc, self.rate = float(logloss), float(auc), float(rate)
        self.windows = [None if a == "-" else float(a) for a in windows.split(",")]


class Runs:
    """All runs of the experiments; those of one kind by seed."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.all = [Run(line) for line in file if not line.startswith("codecs\t")]
        places = dict.fromkeys((run.set, run.model) for run in self.all
                               if run.set not in MILLIONS and run.model in ("paper", "ours"))
        self.places = sorted(places, key=lambda place: place[0] != "drift")

    def of(self, place, bits, rounding="stochastic", span=None, times=1):
        found = {}
        for run in self.all:
            if (run.set, run.model, run.times, run.bits) != (*place, times, bits):
                continue
            if bits != 32 and (run.rounding != rounding or run.range != (span or DEFAULT[bits])):
                continue
            found[run.seed] = run
        return found


MILLIONS = ("million", "still")
DEFAULT = {}  # the range of each number of bits; it is the one that was rounded to nearest, too


def rows_of(runs):
    return next(iter(runs.values())).rows


def interval(values):
    """Mean, and half of its 95 % interval."""
    n = len(values)
    if n < 2:
        return statistics.fmean(values), math.nan
    t = T[min(n - 1, len(T) - 1)]
    return statistics.fmean(values), t * statistics.stdev(values) / math.sqrt(n)


def change(runs, than):
    """The difference of AUC of paired runs."""
    return interval([runs[seed].auc - than[seed].auc for seed in sorted(runs) if seed in than])


def shown(mean, half):
    """A difference in ten-thousandths of AUC."""
    return f"{mean * 1e4:+.1f} ± {half * 1e4:.1f}"


def verdict(mean, half):
    if math.isnan(half) or abs(mean) <= half:
        return "not told apart"
    return "yes" if mean > 0 else "**no**"


def row(*cells):
    print("|", " | ".join(str(cell) for cell in cells), "|")


def head(*cells):
    row(*cells)
    print("|" + "---|" * len(cells))


POINTS = 10  # of a curve


def curve(runs, than):
    """Points, some windows each: their last row, and the paired difference of their mean AUC."""
    first = next(iter(runs.values()))
    lines = []
    whole = first.rows // first.window  # without the rest
    at_once = -(-whole // POINTS)
    for begin in range(0, whole, at_once):
        end = min(begin + at_once, whole)
        differences = []
        for seed in sorted(set(runs) & set(than)):
            # All predictions of the first window are the same.
            pairs = list(zip(runs[seed].windows, than[seed].windows))[max(begin, 1):end]
            good = [a - b for a, b in pairs if a is not None and b is not None]
            if good:
                differences.append(statistics.fmean(good))
        if len(differences) > 1:
            mean, half = interval(differences)
            lines.append(f"{end * first.window} {mean * 1e4} {half * 1e4}")
    return lines


COLORS = ("#d1495b", "#1f5fa8", "#2a9d4a", "#e09f3e", "#6a4c93", "#222222", "#8d99ae")


def by_rows(rows, setting=""):
    """Settings of a panel over rows, with some five marks."""
    step = 10 ** math.floor(math.log10(rows))
    step = next(s for s in (step / 5, step / 2, step, 2 * step) if rows / s <= 5.5)
    return f"unset logscale x; set format x '%.0s%c'; set xrange [0:{rows}]; set xtics {step:g}; {setting}"


class Plot:
    """A grid of panels, each with curves with error bars."""

    def __init__(self, path, title, columns, width=330):
        self.path, self.title, self.columns, self.width, self.panels, self.files = path, title, columns, width, [], 0

    def panel(self, title, curves, setting=""):
        drawn = []
        for name, lines in curves:
            if not lines:
                continue
            data = f"{self.path}.{self.files}"
            self.files += 1
            with open(data, "w", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
            color = COLORS[len(drawn) % len(COLORS)]  # the zero comes in front later
            drawn.append(f"'{data}' using 1:2:3 with yerrorlines lc rgb '{color}' pt 7 ps .4 title '{name}'")
        if drawn:
            drawn.insert(0, "0 lc rgb '#999999' notitle")
            self.panels.append(f"set title '{title}' noenhanced\n{setting}\nplot " + ", ".join(drawn))

    def write(self):
        if not self.panels:
            return
        lines = -(-len(self.panels) // self.columns)
        size = f"{self.columns * self.width},{lines * 220 + 40}"
        name = os.path.basename(self.path)
        with open(self.path + ".plot", "w", encoding="utf-8") as file:
            file.write(f"""set terminal pngcairo size {size} font 'sans-serif,9' background 'white'
set output '{name}.png'
set border 3
set tics nomirror out scale 0.5
set key outside right samplen 1
set multiplot layout {lines},{self.columns} title "{self.title}"
""" + "\n".join(self.panels) + "\nunset multiplot\n")


def rounding(runs, path):
    head("set", "model", "bits", "nearest (FixQ)", "stochastic (StocQ)", "logloss, nearest", "logloss, stochastic",
         "stochastic is better", "range")
    plot = Plot(path, "AUC beside floats, in 1e-4, by rows (Figure 2)", 4)
    for place in runs.places:
        floats = runs.of(place, 32)
        for bits in (4, 8, 12, 16):
            near, by_chance = runs.of(place, bits, "nearest"), runs.of(place, bits)
            if not near or not by_chance:
                continue
            losses = [statistics.fmean(100 * (r[s].logloss / floats[s].logloss - 1) for s in r if s in floats)
                      for r in (near, by_chance)]
            row(*place, bits, shown(*change(near, floats)), shown(*change(by_chance, floats)),
                *(f"{loss:+.3f} %" for loss in losses), verdict(*change(by_chance, near)),
                f"from -{DEFAULT[bits]:g} to {DEFAULT[bits]:g}")
            plot.panel(f"{place[0]}, {place[1]}, {bits} bits",
                       [("FixQ", curve(near, floats)), ("StocQ", curve(by_chance, floats))],
                       by_rows(rows_of(floats)))
    plot.write()


def spans(runs):
    return sorted({run.range for run in runs.all if run.bits != 32 and run.rounding == "stochastic"})


def ranges(runs, path):
    every = spans(runs)
    head("set", "model", "bits", *(f"{span:g}" for span in every))
    title = "AUC beside floats, in 1e-4: 16 bits by rows and range (Figure 3), all bits by range (Figure 4)"
    plot = Plot(path, title, 2, 520)
    means = {}
    for place in runs.places:
        floats = runs.of(place, 32)
        of_bits = []
        for bits in (4, 8, 12, 16):
            cells, lines = [], []
            for span in every:
                found = runs.of(place, bits, span=span)
                if not found:
                    cells.append("")
                    continue
                mean, half = change(found, floats)
                means.setdefault((bits, span), []).append(mean)
                cells.append(shown(mean, half))
                lines.append(f"{span} {mean * 1e4} {half * 1e4}")
            if bits == 16:
                row(*place, bits, *cells)
            of_bits.append((f"{bits} bits", lines))
        papers = [span for span in every if span not in (.5, 4)]
        plot.panel(f"{place[0]}, {place[1]}, 16 bits",
                   [(f"w = {span:g}", curve(runs.of(place, 16, span=span), floats)) for span in papers],
                   by_rows(rows_of(floats), "set yrange [-300:50]"))
        plot.panel(f"{place[0]}, {place[1]}, by w", of_bits,
                   "set logscale x; set format x '%g'; set xtics auto; set xrange [.005:200]; set yrange [-300:50]")
    for bits in (4, 8, 12, 16):
        cells = {span: statistics.fmean(means[bits, span]) for span in every
                 if len(means.get((bits, span), [])) == len(runs.places)}
        if cells:
            best = max(cells.values())
            in_bold = {s: f"**{cells[s] / 1e-4:+.1f}**" if cells[s] == best else f"{cells[s] / 1e-4:+.1f}" for s in cells}
            row("mean", "", bits, *(in_bold.get(s, "") for s in every))
    plot.write()


def dimension(runs, path):
    head("set", "model", "32 bits, twice", "16 bits", "16 bits, twice", "16 bits, twice, beside 16 bits", "MB: 32 bits",
         "16 bits, twice", "twice with 16 bits is better than floats")
    plot = Plot(path, "AUC of twice the dimension with 16 bits, in 1e-4, by rows (Figure 5)", 2, 520)
    for place in runs.places:
        floats, short = runs.of(place, 32), runs.of(place, 16)
        wide, wide_short = runs.of(place, 32, times=2), runs.of(place, 16, times=2)
        if not wide or not wide_short:
            continue
        row(*place, shown(*change(wide, floats)), shown(*change(short, floats)), shown(*change(wide_short, floats)),
            shown(*change(wide_short, short)),
            *(f"{statistics.fmean(run.size for run in r.values()) / 2**20:.2f}" for r in (floats, wide_short)),
            verdict(*change(wide_short, floats)))
        plot.panel(f"{place[0]}, {place[1]}", [("beside floats", curve(wide_short, floats)),
                                               ("beside 16 bits", curve(wide_short, short))],
                   by_rows(rows_of(floats)))
    plot.write()


def state(runs, _):
    head("set", "accumulators", "bits of weights", "AUC with sums of 32 bits", "16 beside it, in 1e-4", "logloss",
         "MB: 32 bits", "16 bits", "examples/s of 32 bits'")
    for name in dict.fromkeys(place[0] for place in runs.places):
        for adagrad in ("slice", "weight"):
            for bits in (32, 16, 8):
                floats, short = (runs.of((name, adagrad + of), bits) for of in ("32", "16"))
                if not floats or not short:
                    continue
                row(name, f"one per {adagrad}", bits, f"{statistics.fmean(run.auc for run in floats.values()):.4f}",
                    shown(*change(short, floats)),
                    f"{statistics.fmean(100 * (short[s].logloss / floats[s].logloss - 1) for s in short):+.3f} %",
                    *(f"{statistics.fmean(run.size for run in r.values()) / 2**20:.2f}" for r in (floats, short)),
                    f"{statistics.median(short[s].rate / floats[s].rate for s in short):.2f}")


def million(runs, _):
    head("set", "model", "pairs", "AUC of 32 bits", "16 bits beside it, in 1e-4", "largest difference", "logloss",
         "MB: 32 bits", "16 bits", "examples/s: 32 bits", "16 bits", "mean within 1e-4")
    for place in [(name, model) for name in MILLIONS for model in ("paper", "ours")]:
        floats, short = runs.of(place, 32), runs.of(place, 16)
        if not floats or not short:
            continue
        mean, half = change(short, floats)
        row(*place, len(short), f"{statistics.fmean(run.auc for run in floats.values()):.4f}", shown(mean, half),
            f"{max(abs(short[s].auc - floats[s].auc) for s in short) / 1e-4:.1f}",
            f"{statistics.fmean(100 * (short[s].logloss / floats[s].logloss - 1) for s in short):+.3f} %",
            *(f"{statistics.fmean(run.size for run in r.values()) / 2**20:.1f}" for r in (floats, short)),
            *(f"{statistics.median(run.rate for run in r.values()):.0f}" for r in (floats, short)),
            "yes" if abs(mean) <= 1e-4 else "no; not told from 0" if abs(mean) <= half else "**no**")


def codecs(path):
    head("model", "bits", "logloss", "AUC", "bytes a feature", "examples/s", "of 32 bits'", "in two threads",
         "of 32 bits'")
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t")[1:] for line in file if line.startswith("codecs\t")]
    base = {}
    for model, bits, logloss, auc, size, features, rate, threads in lines:
        rates = float(rate), float(threads)
        if bits == "32":
            base[model] = rates
        row(model, bits, f"{float(logloss):.5f}", f"{float(auc):.4f}", f"{int(size) / int(features):.0f}",
            *(cell for at in (0, 1) for cell in (f"{rates[at]:.0f}", f"{rates[at] / base[model][at]:.2f}")))


def main():
    what, *rest = sys.argv[1:]
    if what == "run":
        return of_run(*rest)
    if what == "codec":
        return of_codec(*rest)
    if what == "codecs":
        return codecs(rest[0])
    runs = Runs(rest[0])
    for run in runs.all:
        if run.rounding == "nearest":
            DEFAULT[run.bits] = run.range
    if 16 not in DEFAULT:  # a million rows alone
        DEFAULT[16] = max((run.range for run in runs.all if run.bits == 16), default=8)
    return {"rounding": rounding, "range": ranges, "dimension": dimension, "state": state,
            "million": million}[what](runs, rest[1])


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main()
