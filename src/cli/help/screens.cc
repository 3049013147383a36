#include "cli/help/screens.h"

namespace leveret::cli {
namespace {

struct Screen {
  std::string_view verb, text;
};

constexpr Screen kScreens[] = {
    {"train", R"(Usage: leveret train [OPTIONS] [FILE ...]         (--help_all: all options)
  zstdcat clicks.vw.zst | leveret train -f model.lvt

Data      -d FILE ...            VW text, CSV, TSV, JSON lines (default: stdin)
          --label COLUMN         CSV, TSV, JSON: the clicks (label, click ...)
          --column NAME=KIND     likewise: what a column is (leveret schema)
          --follow               -d is a folder: learn its files as they appear
          -c [FILE]              keep the parsed input in a cache for next time
          --passes N             read the input N times; needs -c
Model     --model NAME           deepffm (default), ffm, dcnv2 ... (help models)
          --ffm_k N              length of an FFM vector (4); 0: no FFM
          --hidden N,...|none    widths of the layers over the FFM (32)
          --field NS[,NS...]     one field of the FFM (default: each namespace)
          -q A*B,...             pairs of namespaces as linear features
          --tower KIND[:...]     add a tower: mlp, cross2 ... (help towers)
          --row_bits BITS[:...]  FFM weight's bits: 4, 8, 12, 16 (default), 32
Learning  --optimizer [PART=]RULE adagrad, sgd, ftrl, adam; rows=adagrad:rate=.3
          --batch_size N[:...]   examples of one step (1)
          --threads N            threads that learn together (1)
          --max_memory N         bytes of all tables: 8G (default: 3/4 of all)
Output    -f MODEL               save the model here
          -i MODEL               continue from this model
          -p FILE                write each prediction, made before learning
          --save_every N|Nmin    save checkpoints; --resume starts at the last
)"},
    {"predict", R"(Usage: leveret predict [OPTIONS] -i MODEL [FILE ...]   (--help_all: all options)
  leveret predict -i model.lvt candidates.vw >probabilities

Data      -d FILE ...            VW text, CSV, TSV, JSON lines (default: stdin)
          --format FORMAT        vw, csv, tsv, json (default: by file names)
          --bad_lines POLICY     fail, skip (default) or max=N
          --context NS[,NS...]   namespaces that lines of one request share
          --context_lines        lines are a context, candidates, an empty line
Model     -i MODEL               the model
          --watch PATH           take new models from this file or folder
          --threads N            threads that predict (1)
Output    -p FILE                write probabilities here (default: stdout)
          -r FILE                write log-odds here, too
          --link identity        log-odds in place of probabilities
          --strict               exit 1 where lines differ from those learned
          --quiet                report neither bad lines nor skew
)"},
    {"serve", R"(Usage: leveret serve [OPTIONS]                    (--help_all: all options)
  leveret serve -i model.lvt --port 26542 --http 8080
  leveret serve --follow published/ --http 8080

Models    -i MODEL               a model, NAME=MODEL, or a folder of *.lvt
          --follow DIR           the newest step of a `leveret publish` folder
          --watch PATH           take new versions from this file or folder
          --max_memory N         bytes of all models: 8G (default: 3/4 of all)
Requests  --port N               listen for lines here (26542); 0: a free port
          --socket PATH          listen for lines on this Unix socket
          --http N               listen for HTTP here; 0: a free port
          --address IP           address of the ports (127.0.0.1); 0.0.0.0: all
          --context NS[,NS...]   namespaces that the lines of a request share
          --context_lines        lines are a context, candidates, an empty line
Work      --threads N            threads that answer (1)
          --max_connections N    connections at a time (1000)
          --log json             log lines of JSON (default: text)
          --quiet                log no start and no end
)"},
    {"evaluate", R"(Usage: leveret evaluate [OPTIONS] -i MODEL [FILE ...]  (--help_all: all options)
  leveret evaluate -i model.lvt test.vw

Data      -d FILE ...            labelled VW text, plain, gzip, zstd (stdin)
          --bad_lines POLICY     fail, skip or max=N (default: up to 1 %)
Model     -i MODEL               the model
Output    --json                 one line of JSON
          --interval             also 95 % intervals, by the bootstrap
          --by NS                also figures of each value of this namespace
          --reliability          also ten bins of predictions and their clicks
          --strict               exit 1 where lines differ from those learned
)"},
    {"compare", R"(Usage: leveret compare [OPTIONS] A B [FILE ...]   (--help_all: all options)
  leveret compare in_use.lvt new.lvt test.vw && mv new.lvt in_use.lvt

Models    A                      the model in use
          B                      the model that may replace it
Data      -d FILE ...            labelled VW text, plain, gzip, zstd (stdin)
          --bad_lines POLICY     fail, skip or max=N (default: up to 1 %)
Verdict   --tolerance X          B's logloss may exceed A's by X (0)
          --better               exit code 3 unless B is better beyond doubt
          --by NS                also compare by the values of this namespace
          --json                 one line of JSON
Exit code 3: B is worse.
)"},
    {"convert", R"(Usage: leveret convert [OPTIONS] FORMAT [FILE ...]     (--help_all: all options)
  leveret convert csv --label clicked clicks.csv | leveret train -f model.lvt

Format    FORMAT                 csv, criteo, avazu, kdd2012, libffm (or libsvm)
          -i MODEL               csv, tsv, json: as this model reads such rows
Data      -d FILE ...            plain, gzip or zstd (default: stdin)
          --bad_lines POLICY     fail, skip or max=N (default: up to 1 %)
CSV       --label NAME           the column of the label (label, else click)
          --no_label             there is no label: lines to predict
          --positive VALUE,...   labels that are clicks (1)
          --numeric COL,...      columns of numbers, in buckets that double
          --numeric_as FORM      log2bucket (default), value, or both: finer
          --ignore COL,...       columns to leave out
          --missing VALUE,...    values that mean missing, as the empty one does
          --columns NAME,...     names of columns where there is no header
          --delimiter BYTE       one byte, or the word tab (,)
Output    --quiet                no summary on stderr
)"},
    {"schema", R"(Usage: leveret schema [OPTIONS] [FILE ...]        (--help_all: all options)
  leveret schema log.csv >columns.txt      (train log.csv --schema columns.txt)
  leveret schema -i model.lvt

Data      -d FILE ...            CSV, TSV or JSON lines, plain, gzip or zstd
          --format FORMAT        csv, tsv or json (default: by file names)
Model     -i MODEL               print the schema of this model
Columns   --label COLUMN         the clicks (label, click, clicked or target)
          --tag COLUMN           stands beside predictions
          --weight COLUMN        importance weights
          --column NAME=KIND     label, weight, tag, id, ignore, category, list,
                                 text, number, as in age=number:bins=20
Output    --quiet                no table of the columns on stderr
)"},
    {"export", R"(Usage: leveret export [OPTIONS] -i MODEL -o FILE   (--help_all: all options)
  leveret export -i model.lvt -o served.lvt --bits 8

Files     -i MODEL               the model
          -o FILE                save the export here: weights without states
          --overwrite            write over files whatever they hold
Weights   --bits N               bits of a weight: 32, 16 (default), 8 or 4
          --rounding WORD        nearest (default) or stochastic
          --min_count N          leave out features seen fewer than N times
          --previous FILE        an earlier export: makes patches small
)"},
    {"inspect", R"(Usage: leveret inspect [OPTIONS] FILE             (--help_all: all options)
  leveret inspect model.lvt
  leveret inspect model.lvt --weights --names clicks.vw

File      FILE                   a model, export, patch, cache, folder of shards
Output    --all                  all options, fields and sections of a model
          --json                 one line of JSON, complete
          --weights              features with the largest linear weights
          --top N                the number of features (50)
          --names FILE ...       find their names in this data
          --fields               what each namespace is worth on the lines of -d
          -d FILE ...            labelled VW text for --fields
)"},
    {"audit", R"(Usage: leveret audit [OPTIONS] [FILE ...]         (--help_all: all options)
  leveret audit -i model.lvt --explain test.vw | head

Data      -d FILE ...            VW text, plain, gzip or zstd (default: stdin)
          --bad_lines POLICY     fail, skip or max=N (default: up to 1 %)
Model     -i MODEL               also its weights and predictions
Output    --explain              also what each namespace adds (Shapley values)
          --json                 one line of JSON for each example
Features  -q A*B,...             without -i: pairs or triples of namespaces
          --field NS[,NS...]     without -i: one field of the FFM
)"},
    {"diff", R"(Usage: leveret diff [OPTIONS] OLD NEW -o PATCH    (--help_all: all options)
  leveret diff yesterday.lvt today.lvt -o today.patch

Files     OLD                    the model that the patch is for
          NEW                    the model that it makes
          -o PATCH               write the patch here; -: standard output
          --overwrite            write over files whatever they hold
          --bytes                files of any kind
Output    --explain              print what changed; -o may be missing
)"},
    {"patch", R"(Usage: leveret patch [OPTIONS] OLD PATCH ... -o NEW    (--help_all: all options)
  leveret patch yesterday.lvt today.patch -o today.lvt

Files     OLD                    the model that the first patch is for
          PATCH ...              patches, one after the other; -: standard input
          -o NEW                 write the newer model here; OLD may be replaced
          --overwrite            write over files whatever they hold
)"},
    {"publish", R"(Usage: leveret publish [OPTIONS] DIR              (--help_all: all options)
  leveret publish published/ -i model.lvt --gate "test.vw: ne < 0.9, not_worse"
  leveret publish published/                            (lists its steps)

Folder    DIR                    the folder that servers follow
          --rollback STEP        make this older step the newest, again
          --keep N               steps that --rollback can return to (100)
Model     -i MODEL               the model, or an export of it
          --watch                publish each model saved under this name
          --gate GATE            publish only what holds on labelled lines
          --bits N               bits of a weight: 32, 16, 8 or 4 (as before)
          --min_count N          leave out features seen fewer than N times
Output    --textfile FILE        metrics for Prometheus
          --log json             log lines of JSON (default: text)
)"},
};

constexpr std::string_view kOpening =
    R"(Leveret learns click-through rates from lines of text, and scores candidates.

  leveret train -f model.lvt clicks.vw        learn a model in one pass
  leveret evaluate -i model.lvt test.vw       its logloss, AUC and calibration
  leveret predict -i model.lvt candidates.vw  a probability for each line
  leveret serve -i model.lvt --http 8080      answer requests

A line of clicks.vw: `1 |user u17 |ad sports`, a label (1 or -1) and namespaces.
From CSV: leveret convert csv --label clicked x.csv | leveret train -f model.lvt
`leveret help` lists all verbs, `leveret VERB --help` the options of one.
)";

}  // namespace

std::string_view first_screen(std::string_view program, std::string_view verb) {
  if (program != "leveret") return {};
  for (const Screen& screen : kScreens) {
    if (screen.verb == verb) return screen.text;
  }
  return {};
}

std::string_view opening_screen() { return kOpening; }

}  // namespace leveret::cli
