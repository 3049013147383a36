#!/bin/sh
# Writes the sample that is shipped in datasets/sample, byte for byte (zstd 1.5.4).
# usage: make_sample.sh PATH/TO/leveret-synth [FOLDER]
set -eu
synth=$1
folder=${2:-$(dirname "$0")/../../datasets/sample}
world="--fields 20 --vocabulary 1000"
mkdir -p "$folder"
# shellcheck disable=SC2086 # the world is several options
"$synth" $world --rows 36000 | zstd -19 -q -f -o "$folder/train.vw.zst"
# shellcheck disable=SC2086
"$synth" $world --first 36000 --rows 4000 | zstd -19 -q -f -o "$folder/test.vw.zst"
