/// One block of a cache: some thousand lines of one source that follow each other, by columns.
///
/// Its bytes, before zstd, all little-endian; a `text` is u32 size and bytes, a `column` is what
/// cache_column.h says:
///
///     u32 examples, u32 source, u64 number of the first line
///     u32 columns;    each: u32 hash of its namespace, text name of it; in order of appearance
///     u32 templates;  each: u32 runs, runs × u32 column: the namespaces of an example in order
///     column template of each example
///     examples × u8 kind: bits 0-1 label (0 none, 1 +1, 2 -1, 3 other), 2 importance is not 1,
///                         3 initial is not 0, 4 has a tag
///     u32 gaps, gaps × u32 example, gaps × u32 lines left out before it (blank or bad)
///     u32 bad, bad × u32 line: those left out that are bad, counted from the first line
///     f32 other labels, f32 importances, f32 initials, u32 tag sizes: as many as kinds ask for
///     text tags, one after the other
///     for each column: u8 flags (1: not all runs have one feature, 2: not all values are 1),
///                      [u32 features, column features of each run], column hashes, [column values]
///
/// So a line of features with value 1, each in its namespace, costs its hashes and next to nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/cache_column.h"
#include "files/bytes.h"
#include "text/example.h"
#include "text/namespace_names.h"

namespace leveret::cache {

/// A block has at most kBlockExamples, and at most kBlockFeatures in its runs and features each,
/// or is one example of up to kMaxExampleFeatures. It bounds what a hostile block can make of us.
inline constexpr std::size_t kBlockExamples = 1 << 13;
inline constexpr std::size_t kBlockFeatures = 1 << 19;
inline constexpr std::size_t kMaxExampleFeatures = 1 << 26;
/// Lines that a block leaves out. They take no bytes, so this, too, bounds a hostile block.
inline constexpr std::size_t kBlockLeftOut = 1 << 19;

/// Examples that the encoder puts into a block. With 39 fields that makes 380 KB, which stay in the
/// second-level cache from when they are read until they are decoded.
inline constexpr std::size_t kWrittenExamples = 1 << 12;

/// Collects lines. Not thread safe.
class BlockEncoder {
 public:
  /// `names` are those of the chunks, and must outlive the encoder.
  explicit BlockEncoder(const text::NamespaceNames& names) : names_(names) {}

  /// How far a chunk is added.
  struct At {
    std::size_t example = 0, bad = 0;
    std::uint64_t line = 0;  ///< the next one; 0: the chunk's first
  };
  /// Adds the lines of a chunk from `at` on and moves it. False: there is no room for the rest in
  /// this block; finish it, and call again. Throws std::runtime_error for an example that no block
  /// can hold.
  bool add(const text::ExampleChunk& chunk, At& at);
  bool empty() const { return kinds_.empty() && left_out_ == 0; }
  std::size_t examples() const { return kinds_.size(); }
  std::size_t features() const { return features_; }

  /// Appends the block to `to` and begins the next.
  void finish(std::string& to);

 private:
  struct Column {
    std::uint32_t name, hash;  ///< of its namespace
    std::size_t runs = 0;
    bool counts_differ = false, values_differ = false;  ///< from 1; else the vectors are empty
    std::vector<std::uint32_t> counts, hashes, values;  ///< of runs, features, features (as bits)
  };
  struct VectorHash {
    std::size_t operator()(const std::vector<std::uint32_t>& v) const;
  };

  bool add_next(const text::ExampleChunk& chunk, At& at);
  bool pass_to(std::uint64_t line);
  bool leave_out(std::uint64_t lines);
  bool has_room(const text::ExampleChunk& chunk, const text::Example& example) const;
  void add_example(const text::ExampleChunk& chunk, const text::Example& example);
  std::uint32_t column_of(const text::NamespaceRun& run);
  void add_meta(const text::ExampleChunk& chunk, const text::Example& example);
  void put_meta(std::string& to);
  void add_run(const text::ExampleChunk& chunk, const text::NamespaceRun& run, Column& column);
  void put_columns(std::string& to);
  void clear();

  const text::NamespaceNames& names_;
  ColumnEncoder column_encoder_;
  std::vector<Column> columns_;
  std::size_t columns_used_ = 0;               ///< the rest keep their capacity
  std::vector<std::uint32_t> column_of_name_;  ///< by namespace id; the last one
  std::unordered_map<std::vector<std::uint32_t>, std::uint32_t, VectorHash> template_ids_;
  std::vector<std::vector<std::uint32_t>> templates_;
  std::vector<std::uint32_t> run_columns_;  ///< of the example at hand
  std::vector<std::uint32_t> template_of_;
  std::string kinds_, tags_;
  std::vector<std::uint32_t> gap_at_, gap_size_, bad_at_;
  std::vector<float> labels_, importances_, initials_;
  std::vector<std::uint32_t> tag_sizes_;
  std::uint32_t source_ = 0;
  std::uint64_t first_line_ = 1, next_line_ = 1;
  std::size_t left_out_ = 0;
  std::size_t features_ = 0, runs_ = 0;
};

/// Hands a block out in chunks. Not thread safe. Trusts nothing in the bytes: what does not fit
/// together is a files::BytesReader::BadBytes. Columns are decoded as they are handed out, so that
/// what is decoded is still in the processor's own cache when it is put into a chunk.
class BlockDecoder {
 public:
  /// Namespaces that are new are added to `names`, which must outlive the decoder.
  explicit BlockDecoder(text::NamespaceNames& names) : names_(names) {}
  BlockDecoder(const BlockDecoder&) = delete;
  BlockDecoder& operator=(const BlockDecoder&) = delete;

  /// Begins a block and checks all of it. `bytes` must stay until it is handed out. After an error
  /// there is nothing to hand out.
  void start(std::string_view bytes);
  /// The next examples, about `features` features, and the lines left out before them, after the
  /// last ones of the block behind them, too; false at its end. `chunk` is replaced, its capacity
  /// is used; its place is that in the block, its bad lines have no text.
  bool next(text::ExampleChunk& chunk, std::size_t features);

  std::size_t examples() const { return template_of_.size(); }
  std::size_t features() const { return features_; }
  std::size_t bad_lines() const { return bad_at_.size(); }
  std::size_t blank_lines() const { return left_out_ - bad_at_.size(); }
  std::uint32_t source() const { return source_; }

 private:
  /// A column's namespace, as a NamespaceRun begins.
  struct Name {
    std::uint32_t name, hash;
  };
  static_assert(sizeof(Name) == 8);
  struct Template {
    std::uint32_t begin, end;  ///< in run_columns_
    std::uint32_t uses;        ///< examples with it, while they are counted; else 0
    bool plain;                ///< each run one feature of value 1
  };
  struct Column {
    std::size_t runs = 0;  ///< in the block
    bool one_each = true;  ///< each run has one feature: there are no counts
    bool all_ones = true;  ///< each value is 1: there are no values
    PackedColumn counts, hashes, values;
    std::size_t part_features = 0;              ///< in the examples at hand
    const std::uint32_t* next_count = nullptr;  ///< in counts_, not yet put into the chunk
    const std::uint32_t* next_value = nullptr;  ///< in values_, the same
    bool plain() const { return one_each && all_ones; }
  };

  void read_columns_and_templates(files::BytesReader& from);
  void read_examples(files::BytesReader& from, std::uint32_t examples);
  void read_left_out(files::BytesReader& from, std::uint32_t examples);
  void read_features(files::BytesReader& from);
  void read_counts(files::BytesReader& from, std::size_t features, Column& column);
  std::size_t count_examples(std::size_t features, std::size_t& runs) const;
  void count_runs(std::size_t examples);
  void decode(std::size_t examples);
  std::size_t decode_counts();
  void put_example(std::size_t i, text::Example& out);
  void put_left_out(std::uint64_t first_line, text::ExampleChunk& chunk);
  void put_plain_runs(const Template& t, text::ExampleChunk& chunk);
  void put_runs(const Template& t, text::ExampleChunk& chunk);

  text::NamespaceNames& names_;
  std::uint32_t source_ = 0;
  std::size_t features_ = 0, runs_ = 0;
  std::vector<Column> columns_;
  std::vector<Name> names_of_;  ///< by column
  std::vector<Template> templates_;
  std::vector<std::uint32_t> run_columns_;
  std::vector<std::uint32_t> template_of_;
  // Working memory of the examples at hand, by columns; it only ever grows.
  std::vector<std::uint32_t> part_runs_;  ///< of each column
  std::vector<std::uint32_t> counts_, values_;
  /// By column: the hashes of its features not yet put into the chunk, in values_.
  std::vector<const std::uint32_t*> hashes_;
  std::string kinds_, tags_;
  std::vector<std::uint32_t> gap_at_, gap_size_, bad_at_;
  std::size_t left_out_ = 0;
  std::vector<float> labels_, importances_, initials_;
  std::vector<std::uint32_t> tag_sizes_;

  // How far the block is handed out.
  bool left_ = false;  ///< there is something to hand out
  std::uint32_t part_ = 0;
  std::size_t example_ = 0, gap_ = 0, bad_ = 0, label_ = 0, importance_ = 0, initial_ = 0, tag_ = 0;
  std::size_t tag_begin_ = 0;
  std::size_t run_at_ = 0, feature_at_ = 0;  ///< in the chunk at hand
  std::uint64_t first_line_ = 1, line_ = 1;
};

}  // namespace leveret::cache
