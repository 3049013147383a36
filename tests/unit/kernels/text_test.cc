// The kernels of the text: every instruction set does what the reference does, bit for bit, and
// reads no byte beyond the text.
#include <string>

#include "kernels/arrays.h"

namespace leveret::kernels {
namespace {

constexpr std::size_t kNames = TextKernels::kNames;

/// A text that ends where a page ends which nobody may touch.
class GuardedText {
 public:
  explicit GuardedText(const std::string& text) : floats_((text.size() + 3) / 4), size_(text.size()) {
    std::memcpy(data(), text.data(), size_);
  }
  char* data() const {
    return reinterpret_cast<char*>(static_cast<float*>(floats_)) + (size_ + 3) / 4 * 4 - size_;
  }
  std::size_t size() const { return size_; }

 private:
  Floats floats_;
  std::size_t size_;
};

std::vector<std::uint32_t> delimiters_of(const TextKernels& kernels, const GuardedText& text,
                                         std::uint32_t base) {
  std::vector<std::uint32_t> out(text.size() + TextKernels::kSpare);
  const std::uint32_t* end = kernels.delimiters(text.data(), text.size(), base, out.data());
  out.resize(static_cast<std::size_t>(end - out.data()));
  return out;
}

TEST_CASE("delimiters of every instruction set") {
  std::mt19937 random(1);
  const std::string some = " \t\n|:\v\r;<}~/09az\x8a\x89\xa0\xfc\xba";
  for_each_instruction_set([&](const Kernels& kernels) {
    for (int round = 0; round < 600; ++round) {
      std::string text(round < 200 ? round : random() % 300, ' ');
      for (char& c : text) {
        c = round % 3 == 0 ? static_cast<char>(random())
                           : some[random() % (round % 3 == 1 ? 5 : some.size())];
      }
      const GuardedText guarded(text);
      const auto base = static_cast<std::uint32_t>(random());
      REQUIRE(delimiters_of(*kernels.text, guarded, base) ==
              delimiters_of(*reference().text, guarded, base));
    }
  });
  std::string all(256, '\0');
  for (std::size_t c = 0; c < all.size(); ++c) all[c] = static_cast<char>(c);
  CHECK(delimiters_of(*reference().text, GuardedText(all), 0) ==
        std::vector<std::uint32_t>{'\t', '\n', ' ', ':', '|'});
}

/// What usual_namespaces found, without what it may leave behind the features.
struct Found {
  std::vector<std::uint64_t> names, features;
  std::vector<std::uint32_t> lengths;

  Found(const TextKernels& kernels, const GuardedText& text,
        std::span<const std::uint32_t> delimiters)
      : names(kNames), features(kNames), lengths(kNames) {
    const std::size_t count = kernels.usual_namespaces(
        text.data(), static_cast<std::uint32_t>(text.size()), delimiters.data(), delimiters.size(),
        names.data(), features.data(), lengths.data());
    REQUIRE(count <= kNames);
    names.resize(count);
    features.resize(count);
    lengths.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      REQUIRE(lengths[i] >= 1);
      REQUIRE(lengths[i] <= 8);
      features[i] &= ~std::uint64_t{0} >> (64 - 8 * lengths[i]);
    }
  }
  std::size_t count() const { return names.size(); }
  std::string name(std::size_t i) const { return bytes(names[i], names[i] >> 56); }
  std::string feature(std::size_t i) const { return bytes(features[i], lengths[i]); }
  bool operator==(const Found&) const = default;

 private:
  static std::string bytes(std::uint64_t word, std::size_t size) {
    std::string text(8, '\0');
    std::memcpy(text.data(), &word, 8);
    return text.substr(0, size);
  }
};

/// Their hashes, each with the value 1.
std::vector<std::uint32_t> hashes_of(const TextKernels& kernels, Found names,
                                     std::vector<std::uint32_t> seeds, bool numbers) {
  const std::size_t count = names.count(), room = count + TextKernels::kSpare;
  names.features.resize(room);
  names.lengths.resize(room);
  seeds.resize(room);
  std::vector<Feature> features(room);
  kernels.hash_features(names.features.data(), names.lengths.data(), seeds.data(), count, numbers,
                        features.data());
  std::vector<std::uint32_t> hashes;
  for (std::size_t i = 0; i < count; ++i) {
    REQUIRE(features[i].value == 1.0f);
    hashes.push_back(features[i].hash);
  }
  return hashes;
}

/// Namespaces as in click data, of which about one in `strange` is of another shape.
std::string namespaces(std::mt19937& random, std::size_t count, std::uint32_t strange) {
  const std::string alphabets[] = {"0123456789", "0123456789abcdef",
                                   std::string("/09:\x01\x1f!\xff\0", 9)};
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const bool odd = strange != 0 && random() % strange == 0;
    const std::uint32_t kind = odd ? random() % 8 : 8;
    text += kind == 0 ? "\t|" : kind == 1 ? "  |" : "|";
    const std::size_t letters = random() % 3 == 0 ? 1 + random() % (odd ? 9 : 7) : 1;
    for (std::size_t c = 0; c < letters; ++c) {
      text += static_cast<char>(odd ? random() : 'a' + random() % 26);
    }
    text += kind == 2 ? "\t" : kind == 3 ? ":" : kind == 4 ? "bc " : " ";
    const std::string& alphabet = alphabets[random() % (odd ? 3 : 2)];
    const std::size_t size = kind == 5 ? random() % 12 : 1 + random() % 8;
    for (std::size_t c = 0; c < size; ++c) text += alphabet[random() % alphabet.size()];
    text += kind == 6 ? "\n" : kind == 7 ? " x " : " ";
  }
  return text;
}

TEST_CASE("usual namespaces and hashes of every instruction set") {
  std::mt19937 random(2);
  std::vector<std::uint32_t> seeds(kNames);
  for (std::uint32_t& seed : seeds) seed = static_cast<std::uint32_t>(random());
  std::size_t most = 0, none = 0, line_ends = 0;
  for_each_instruction_set([&](const Kernels& kernels) {
    for (int round = 0; round < 3000; ++round) {
      const std::uint32_t strange = round % 3 == 0 ? 0 : round % 3 == 1 ? 30 : 4;
      const GuardedText text(namespaces(random, random() % 100, strange));
      const std::vector<std::uint32_t> all = delimiters_of(*reference().text, text, 0);
      // From any delimiter on, to any other.
      const std::size_t from = round % 2 == 0 ? 0 : random() % (all.size() + 1);
      const std::size_t left = all.size() - from;
      const std::size_t count = round % 5 == 0 ? random() % (left + 1) : left;
      // As they are in memory: with nothing behind them.
      Floats guarded(count);
      if (count > 0) std::memcpy(guarded, all.data() + from, count * sizeof(float));
      const std::span delimiters(
          reinterpret_cast<const std::uint32_t*>(static_cast<float*>(guarded)), count);
      const Found found(*kernels.text, text, delimiters);
      REQUIRE(found == Found(*reference().text, text, delimiters));
      most = std::max(most, found.count());
      none += found.count() == 0;
      line_ends += found.count() > 0 && text.data()[delimiters[3 * found.count() - 1]] == '\n';
      for (const bool numbers : {false, true}) {
        REQUIRE(hashes_of(*kernels.text, found, seeds, numbers) ==
                hashes_of(*reference().text, found, seeds, numbers));
      }
    }
  });
  CHECK(most == kNames);
  CHECK(none > 0);
  CHECK(line_ends > 0);
}

/// How many of a text's namespaces every instruction set finds, from the first delimiter on.
std::size_t found_in(const std::string& bytes) {
  const GuardedText text(bytes);
  const std::vector<std::uint32_t> delimiters = delimiters_of(*reference().text, text, 0);
  const std::size_t count = Found(*reference().text, text, delimiters).count();
  for_each_instruction_set([&](const Kernels& kernels) {
    CHECK(Found(*kernels.text, text, delimiters).count() == count);
  });
  return count;
}

TEST_CASE("usual namespaces of a line") {
  const GuardedText text(
      "|a 1 |bc 0a1b2c3d |user_id x |d 12345678 |e longer789 |f behind\n");
  const std::vector<std::uint32_t> delimiters = delimiters_of(*reference().text, text, 0);
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO(kernels->name);
    const Found found(*kernels->text, text, delimiters);
    REQUIRE(found.count() == 4);
    CHECK(found.name(0) == "a");
    CHECK(found.feature(0) == "1");
    CHECK(found.name(1) == "bc");
    CHECK(found.feature(1) == "0a1b2c3d");
    CHECK(found.name(2) == "user_id");
    CHECK(found.feature(2) == "x");
    const auto hashes = hashes_of(*kernels->text, found, {100, 0, 0, 4}, true);
    CHECK(hashes[0] == 101);
    CHECK(hashes[3] == 12345682);
  }
}

TEST_CASE("usual namespaces end with their line, which a blank byte may not") {
  std::string line;
  for (int i = 0; i < 20; ++i) line += "|n" + std::to_string(i) + " value ";
  // Further lines, for a kernel that looks at many names at a time.
  const std::string rest = "1 " + line + "|z 1234567890\n";
  const std::string more = rest + rest + rest;
  CHECK(found_in(line + "|last one\n" + more) == 21);
  CHECK(found_in(line + "|last one\r\n" + more) == 20);
  CHECK(found_in(line + "|last \x01one\n" + more) == 20);
  CHECK(found_in(line + "|last one\x1f |next two\n" + more) == 20);
  CHECK(found_in(line + "|last one|next two\n" + more) == 20);
  CHECK(found_in("|last one\n|next two\n" + more) == 1);
  // Fifteen, sixteen and more fill a register, or do not.
  for (std::size_t names = 1; names < 40; ++names) {
    std::string some;
    for (std::size_t i = 1; i < names; ++i) some += "|a 12 ";
    CHECK(found_in(some + "|b 12345\n1 |c 1\n" + more) == names);
  }
}

}  // namespace
}  // namespace leveret::kernels
