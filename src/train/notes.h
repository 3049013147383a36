/// The notes in a model's file of how the model came to be: the chunks that it has learned, and how
/// far a run was in its input (leveret-model(5), NOTES). No prediction depends on it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "store/model_file.h"
#include "train/chunk_ledger.h"
#include "train/held_out.h"
#include "train/input_position.h"

namespace leveret::train {

struct Notes {
  ChunkLedger chunks;
  std::string followed;  ///< the highest name that was learned of a folder; empty: none
  /// Files of the folder that are not to be learned (train --without), and what was in them.
  std::vector<std::string> without;
  ChunkLedger unwanted;
  std::optional<InputPosition> input;  ///< of a run that can be gone on with
  std::optional<BestPass> best_pass;   ///< of one that holds examples out of its passes
};

/// To be saved with the model (store::make_notes); empty where there is nothing to note.
std::vector<std::byte> to_bytes(const Notes& notes);

/// Those of a file; empty ones where it has none. std::runtime_error names the file.
Notes notes_of(const store::ModelFile& file);
/// The same for who goes on with the model, and with another input: without the place in the last
/// one.
Notes notes_to_go_on(const store::ModelFile& file);
/// Notes::followed alone: chunks, which may be many, are not read.
std::string followed_of(const store::ModelFile& file);

}  // namespace leveret::train
