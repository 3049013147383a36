/// Patches (leveret-patch(5)): what turns an old file into a new one, bit for bit.
///
///   make_patch(ModelFile::open("old"), ModelFile::open("new"), {}, "p", 2);
///   PatchChain patches({"p"});
///   apply_patches("old", patches, "new", 2);
///
/// Everything is read and written in blocks by several threads. Memory: some blocks a thread, four
/// bytes a key of the section of keys that is at work, and what changed about keys. Errors are
/// std::runtime_error that name the file and say what to do; then nothing was written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "files/atomic_file.h"
#include "files/unnamed_file.h"
#include "patch/patch_chain.h"
#include "patch/patch_entropy.h"
#include "patch/patch_records.h"
#include "store/model_file.h"

namespace leveret::patch {

/// The facts that a patch has about its models beside their fingerprints.
struct PatchNames {
  std::array<std::byte, 16> line = {};
  std::uint64_t base_sequence = kNoSequence, result_sequence = kNoSequence;
};

/// Verifies both files, and writes what turns `before` into `now`. With a report it is measured,
/// too, what the changes would take at least, which takes a while.
void make_patch(const store::ModelFile& before, const store::ModelFile& now,
                const PatchNames& names, const std::string& path, unsigned threads,
                PatchReport* report = nullptr);
/// The same for files of any kind.
void make_byte_patch(const std::string& before, const std::string& now, const std::string& path,
                     unsigned threads);

/// Applies a chain of patches and writes the result of the last, which may be in place of the old
/// file. Patches at the front of the chain that the old file has behind it are passed over; where
/// that are all, the result is the old file. Returns how many were applied.
std::size_t apply_patches(const std::string& before, PatchChain& chain, const std::string& to,
                          unsigned threads);

/// The same of a model that is open, whatever has become of its name since: what patches of bytes
/// are not for. The result may be read under its temporary name before it is committed, or given
/// up. `to` is a regular file, or none yet.
std::unique_ptr<files::AtomicFile> apply_patches(const store::ModelFile& before, PatchChain& chain,
                                                 const std::string& to, unsigned threads);
/// The result is not to have a name.
files::UnnamedFile apply_patches(const store::ModelFile& before, PatchChain& chain,
                                 const files::UnnamedFile::Place& place, unsigned threads);

/// A patch without its base.
struct PatchDescription {
  PatchFront front;
  std::uint64_t bytes = 0;
  std::uint64_t table_bytes = 0;  ///< what the new table takes, with its header
  std::string header_json;        ///< of the new file; empty for a patch of bytes
  struct Section {
    std::string name;  ///< empty for a patch of bytes
    store::Dtype dtype = store::Dtype::kU8;
    std::uint64_t codes = 0;       ///< in the new file; two of 32 bits for a type of 64
    std::uint64_t changes = 0;     ///< codes of rows that were there
    std::uint64_t fresh_rows = 0;  ///< rows that come from none
    std::uint64_t bytes = 0;       ///< in the patch
  };
  std::vector<Section> sections;    ///< those that the patch says something about
  std::uint64_t same_sections = 0;  ///< the others
  struct Keys {
    std::string name;
    KeysSummary summary;
    std::uint64_t bytes = 0;  ///< in the patch
  };
  std::vector<Keys> keys;
};

/// Verifies every checksum of it.
PatchDescription describe_patch(const std::string& path);

}  // namespace leveret::patch
