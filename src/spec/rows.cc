#include <cmath>
#include <optional>

#include "spec/makers.h"
#include "text/plain_number.h"

namespace leveret::spec {

namespace {

void set_state_bits(Spec& s, const std::string& text) {
  const std::optional<std::uint64_t> n = text::read_whole(text, 0, 32);
  if (!n || *n % 16 != 0) refuse("state_bits", text, "0, 16 or 32");
  s.state_bits = static_cast<std::uint32_t>(*n);
}

bool has_state_bits(const Spec& stored, const std::string& text) {
  Spec other = stored;
  set_state_bits(other, text);
  return other.state_codec() == stored.state_codec();
}

}  // namespace

void add_row_codecs(std::vector<SpecEntry>& list) {
  SpecEntry bits = {"row_bits",
                    "",
                    "BITS",
                    "bits of a stored weight of FFM and embeddings: 4, 8, 12 or 16 (within "
                    "a range, rounded) or 32",
                    true,
                    true,
                    false,
                    [](Spec& s, const std::string& t) {
                      const std::optional<std::uint64_t> n = text::read_whole(t, 4, 32);
                      if (!n || *n % 4 != 0 || (*n > 16 && *n != 32)) {
                        refuse("row_bits", t, "4, 8, 12, 16 or 32");
                      }
                      s.row_bits = static_cast<std::uint32_t>(*n);
                    },
                    [](const Spec& s) { return fmt::format("{}", s.row_bits); }};
  list.push_back(std::move(bits));
  SpecEntry range = {
      "weight_range",
      "",
      "W",
      "stored weights of 16 bits or fewer are from -W to W, a power of two; default: 8 "
      "with 16 bits, 4 with 12, 1 with 8, .5 with 4",
      true,
      true,
      false,
      [](Spec& s, const std::string& t) {
        const float w = real_of("weight_range", t, 0x1p-10f, 0x1p10f);
        if (std::exp2(static_cast<float>(std::ilogb(w))) != w) {
          refuse("weight_range", t, "a power of two, .25, .5, 1, 2, 4 and so on");
        }
        s.weight_range = w;
      },
      [](const Spec& s) { return fmt::format("{}", s.range()); }};
  list.push_back(stored_unless("8", key_of("row_bits", "range", range)));
  SpecEntry state = {
      "state_bits",
      "",
      "BITS",
      "bits of an accumulator of FFM and embeddings: 32, or 16 (rounded at random); 0: 16 with "
      "--row_bits below 32 and --adagrad slice, else 32",
      true,
      true,
      false,
      set_state_bits,
      [](const Spec& s) { return fmt::format("{}", s.state_bits); }};
  state.holds = has_state_bits;
  list.push_back(stored_unless("0", key_of("row_bits", "state", state)));
  SpecEntry rounding = word_entry(
      "rounding",
      "rounding of stored weights; stochastic: up or down at random, so that the mean of many "
      "small steps is kept; nearest: to the nearest",
      true, {"stochastic", "nearest"}, [](Spec & s) -> auto& { return s.rounds_to_nearest; });
  list.push_back(stored_unless("stochastic", key_of("row_bits", "rounding", rounding)));
}

}  // namespace leveret::spec
