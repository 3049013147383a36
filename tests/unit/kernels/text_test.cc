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

struct Names {
  std::vector<unsigned char> letters;
  std::vector<std::uint32_t> hashes;
  bool operator==(const Names&) const = default;
};

Names names_of(const TextKernels& kernels, const GuardedText& text,
               std::span<const std::uint32_t> delimiters, const std::uint32_t* seeds,
               bool numbers) {
  Names names{std::vector<unsigned char>(kNames), std::vector<std::uint32_t>(kNames)};
  const std::size_t count = kernels.short_names(
      text.data(), static_cast<std::uint32_t>(text.size()), delimiters.data(), delimiters.size(),
      seeds, numbers, names.letters.data(), names.hashes.data());
  REQUIRE(count <= kNames);
  names.letters.resize(count);
  names.hashes.resize(count);
  return names;
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
    text += static_cast<char>(odd ? random() : 'a' + random() % 26);
    text += kind == 2 ? "\t" : kind == 3 ? ":" : kind == 4 ? "bc " : " ";
    const std::string& alphabet = alphabets[random() % (odd ? 3 : 2)];
    const std::size_t size = kind == 5 ? random() % 12 : 1 + random() % 8;
    for (std::size_t c = 0; c < size; ++c) text += alphabet[random() % alphabet.size()];
    text += kind == 6 ? "\n" : kind == 7 ? " x " : " ";
  }
  return text;
}

TEST_CASE("short names of every instruction set") {
  std::mt19937 random(2);
  std::uint32_t seeds[256];
  for (std::uint32_t& seed : seeds) seed = static_cast<std::uint32_t>(random());
  std::size_t most = 0, none = 0;
  for_each_instruction_set([&](const Kernels& kernels) {
    for (int round = 0; round < 3000; ++round) {
      const std::uint32_t strange = round % 3 == 0 ? 0 : round % 3 == 1 ? 30 : 4;
      const GuardedText text(namespaces(random, random() % 100, strange));
      const std::vector<std::uint32_t> all = delimiters_of(*reference().text, text, 0);
      // From any delimiter on, to any other.
      const std::size_t from = round % 2 == 0 ? 0 : random() % (all.size() + 1);
      const std::size_t count = round % 5 == 0 ? random() % (all.size() - from + 1) : all.size() - from;
      // As they are in memory: with nothing behind them.
      Floats guarded(count);
      std::memcpy(static_cast<float*>(guarded), all.data() + from, count * sizeof(float));
      const std::span delimiters(
          reinterpret_cast<const std::uint32_t*>(static_cast<float*>(guarded)), count);
      for (const bool numbers : {false, true}) {
        const Names names = names_of(*kernels.text, text, delimiters, seeds, numbers);
        REQUIRE(names == names_of(*reference().text, text, delimiters, seeds, numbers));
        most = std::max(most, names.letters.size());
        none += names.letters.empty();
      }
    }
  });
  CHECK(most == kNames);
  CHECK(none > 0);
}

TEST_CASE("short names of a line") {
  const GuardedText text("|a 1 |b 0a1b2c3d |c x |d 12345678 |e longer789 |f behind\n");
  const std::vector<std::uint32_t> delimiters = delimiters_of(*reference().text, text, 0);
  std::uint32_t seeds[256] = {};
  seeds['a'] = 100;
  seeds['d'] = 4;
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO(kernels->name);
    const Names names = names_of(*kernels->text, text, delimiters, seeds, true);
    CHECK(names.letters == std::vector<unsigned char>{'a', 'b', 'c', 'd'});
    REQUIRE(names.hashes.size() == 4);
    CHECK(names.hashes[0] == 101);
    CHECK(names.hashes[3] == 12345682);
  }
}

}  // namespace
}  // namespace leveret::kernels
