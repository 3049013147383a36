#include "cli/learn/learned_chunks.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/console.h"
#include "files/file_state.h"
#include "stream/bad_lines.h"
#include "stream/input_file.h"

namespace leveret::cli {
namespace {

std::vector<std::string> sources_of(const InputOptions& input) {
  return input.data.empty() ? std::vector<std::string>{"-"} : input.data;
}

}  // namespace

void say_passed_over(const std::string& path) {
  say(
      fmt::format("{}: the model has learned this chunk before, so it is passed over; --again "
                  "learns it again",
                  stream::escaped(stream::display_name(path))));
}

void say_grown(const std::string& path, std::uint64_t bytes) {
  say(
      fmt::format("warning: {}: the model has learned its first {} bytes before and learns them "
                  "again: the file has grown; put new lines into a file of their own",
                  stream::escaped(stream::display_name(path)), bytes));
}

std::vector<std::string> data_of(const InputOptions& input) {
  return input.data == std::vector<std::string>{"-"} ? std::vector<std::string>() : input.data;
}

bool is_input_of(const std::vector<std::string>& data, const InputOptions& input,
                 const train::ChunkLedger& ledger) {
  const std::vector<std::string> now = data_of(input);
  std::size_t next = 0;
  for (const std::string& path : now) {
    if (next < data.size() && data[next] == path) {
      ++next;
    } else if (!train::find_learned(ledger, path).learned) {
      return false;
    }
  }
  return next == data.size() && now.empty() == data.empty();
}

bool LearnedChunks::pass_over(InputOptions& input, const train::ChunkLedger& ledger,
                              const std::vector<std::string>* of_run) {
  warns_ = of_run == nullptr && !again_;
  std::vector<std::string> left;
  for (const std::string& path : sources_of(input)) {
    const bool is_of_run =
        of_run != nullptr &&
        (of_run->empty() || (left.size() < of_run->size() && (*of_run)[left.size()] == path));
    const auto source = static_cast<std::uint32_t>(left.size());
    const bool asks = !again_ && !is_of_run;
    const train::LedgerFind found = asks ? train::find_learned(ledger, path) : train::LedgerFind();
    if (found.learned) {
      say_passed_over(path);
      continue;
    }
    if (found.begins_with > 0) say_grown(path, found.begins_with);
    if (path != "-") watch_.begins(source, path, files::state_of(path));
    left.push_back(path);
  }
  const bool is_all = left.empty();
  if (left.size() < sources_of(input).size()) input.data = left;
  names_ = std::move(left);
  return is_all;
}

void LearnedChunks::take_from(const cache::CacheInfo& cache, const InputOptions& input) {
  using Chunks = std::vector<std::optional<train::ChunkHash>>;
  if (!cache.sums.empty()) {
    Chunks chunks(cache.sums.size());
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (cache.sums[i] != stream::TextSum{}) chunks[i] = train::ChunkHash::of_sum(cache.sums[i]);
    }
    cached_ = std::async(std::launch::deferred, [chunks] { return chunks; });
    return;
  }
  cached_ = std::async(std::launch::async, [this, paths = sources_of(input)] {
    Chunks chunks;
    for (const std::string& path : paths) chunks.push_back(train::hash_of_file(path, &stop_));
    return chunks;
  });
}

void LearnedChunks::note(train::ChunkLedger& ledger, std::uint64_t end) {
  if (cached_.valid() && end == kAll) {
    const auto chunks = cached_.get();
    for (std::uint32_t i = 0; i < chunks.size(); ++i) {
      if (chunks[i]) watch_.add(i, *chunks[i]);
    }
  }
  while (const auto chunk = watch_.take_before(std::min(end, end_))) {
    const bool known = warns_ && ledger.has(chunk->chunk);
    ledger.add(chunk->chunk);
    if (chunk->has_changed()) {
      say(fmt::format(
          "warning: {}: has changed since reading began: the {} bytes that were read are "
          "learned; move files in when they are complete",
          stream::escaped(chunk->path), chunk->chunk.bytes));
    }
    if (!known || train::find_learned(ledger, names_.at(chunk->source)).learned) continue;
    say(
        fmt::format("warning: {}: the model has learned this chunk twice: a pipe is recognised "
                    "only at its end; "
                    "give it as a file",
                    stream::escaped(stream::display_name(names_[chunk->source]))));
  }
}

}  // namespace leveret::cli
