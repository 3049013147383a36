/// From floats to codes of exports and back, by every instruction set.
#include <algorithm>
#include <string>

#include "kernels/arrays.h"
#include "kernels/no_numbers.h"
#include "kernels/rows/log_code.h"

namespace leveret::kernels {
namespace {

template <class Body>
void for_each_table(Body body) {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    INFO("instruction set " << kernels->name);
    body(*kernels);
  }
}

TEST_CASE("the largest magnitude, and what is not finite") {
  for_each_table([](const Kernels& kernels) {
    CHECK(kernels.largest(nullptr, 0) == 0);
    for (const std::size_t length : {1, 2, 7, 8, 33, 100}) {
      const std::vector<float> in = random_floats(length, 5, -3, 2);
      float expected = 0;
      for (const float x : in) expected = std::max(expected, std::abs(x));
      const Floats guarded(in);
      CHECK(kernels.largest(guarded, length) == expected);
      for (const float bad : {kNaN, -kNaN, kInfinity, -kInfinity}) {
        for (const std::size_t at : {std::size_t{0}, length / 2, length - 1}) {
          std::vector<float> one_bad = in;
          one_bad[at] = bad;
          // Callers ask whether it is at most a bound, which -infinity would be.
          const float found = kernels.largest(one_bad.data(), length);
          CHECK_FALSE(std::isfinite(found));
          CHECK_FALSE(found < 0);
        }
      }
      const std::vector<float> zeros(length, -0.0f);
      CHECK(same_bits(kernels.largest(zeros.data(), length), 0.0f));
    }
    const float small = std::numeric_limits<float>::denorm_min();
    const float large = -std::numeric_limits<float>::max();
    CHECK(kernels.largest(&small, 1) == small);
    CHECK(kernels.largest(&large, 1) == -large);
  });
}

std::vector<std::int16_t> codes_of(const Kernels& kernels, const std::vector<float>& in,
                                   float codes_in_one, int largest_code) {
  const Floats guarded(in);
  const Guarded<std::int16_t> out(in.size());
  kernels.quantize(guarded, in.size(), codes_in_one, largest_code, out);
  return out.copy();
}

TEST_CASE("codes are the nearest ones, ties to even, and end on both sides alike") {
  for_each_table([](const Kernels& kernels) {
    const std::vector<float> in = {0, -0.0f, 0.5f, 1.5f,  2.5f,  -0.5f,  -1.5f, 0.499f, -0.51f,
                                   7, 7.4f,  7.6f, -7.6f, 1e30f, -1e30f, 6.5f,  1e-40f};
    const std::vector<std::int16_t> expected = {0, 0, 0, 2,  2, 0,  -2, 0, -1,
                                                7, 7, 7, -7, 7, -7, 6,  0};
    CHECK(codes_of(kernels, in, 1, 7) == expected);
    const std::vector<float> wide = {32766.5f, 32767, 32768, -32768, -32767.5f, 32765.5f};
    const std::vector<std::int16_t> ends = {32766, 32767, 32767, -32767, -32767, 32766};
    CHECK(codes_of(kernels, wide, 1, 32767) == ends);
  });
}

TEST_CASE("all 65,535 codes come back, and what lies between is off by half of one at most") {
  for_each_table([](const Kernels& kernels) {
    const float unit = 0x1p-13f;
    std::vector<float> numbers, between;
    for (int code = -32767; code <= 32767; ++code) {
      numbers.push_back(static_cast<float>(code) * unit);
      between.push_back((static_cast<float>(code) + 0.37f) * unit);
    }
    const std::vector<std::int16_t> codes = codes_of(kernels, numbers, 1 / unit, 32767);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      if (codes[i] != static_cast<int>(i) - 32767) FAIL("code " << codes[i] << " at " << i);
    }
    between.pop_back();
    const std::vector<std::int16_t> near = codes_of(kernels, between, 1 / unit, 32767);
    for (std::size_t i = 0; i < near.size(); ++i) {
      const float off = static_cast<float>(near[i]) * unit - between[i];
      if (!(std::abs(off) <= unit / 2)) FAIL(between[i] << " is off by " << off);
    }
  });
}

TEST_CASE("every instruction set makes the same codes") {
  for_each_instruction_set([](const Kernels& kernels) {
    for (std::size_t length = 0; length < 70; ++length) {
      const std::vector<float> in = random_floats(length, 6, -2, 2, .1f);
      for (const auto& [codes_in_one, largest] :
           {std::pair{16383.5f, 32767}, {63.49f, 127}, {3.3f, 7}, {3.5f, 7}}) {
        CHECK(codes_of(kernels, in, codes_in_one, largest) ==
              codes_of(reference(), in, codes_in_one, largest));
      }
    }
  });
}

/// A kScaled array of random codes, and these.
std::vector<std::byte> scaled_array(Codec codec, std::size_t count, float scale,
                                    std::vector<int>& codes) {
  std::vector<std::byte> array(codec.bytes(count));
  store_unaligned(array.data(), scale);
  std::mt19937 random(static_cast<std::uint32_t>(count));
  for (std::size_t i = 4; i < array.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(random());
    array[i] = std::byte{byte};
    if (codec.bits == 8) {
      codes.push_back(byte < 128 ? byte : byte - 256);
    } else {
      for (const int half : {byte % 16, byte / 16}) codes.push_back(half < 8 ? half : half - 16);
    }
  }
  codes.resize(count);
  return array;
}

TEST_CASE("codes of few bits that rows learn, wide") {
  for (const Codec codec : {Codec::fixed(12, 9), Codec::fixed(8, 5), Codec::fixed(4, 1)}) {
    INFO(int{codec.bits} << " bits");
    for (const std::size_t length : {0, 1, 2, 15, 16, 31, 64, 99, 312}) {
      const Guarded<std::byte> array(codec.bytes(length));
      const std::vector<float> in = random_floats(length, 5, codec.smallest(), codec.largest());
      encode_all(codec, array, 0, in.data(), length);
      for_each_table([&](const Kernels& kernels) {
        const Guarded<Fixed16> wide(length);
        CHECK(kernels.widen(codec, array, length, wide) == 1);
        for (std::size_t i = 0; i < length; ++i) {
          REQUIRE(static_cast<float>(wide[i].code) * codec.unit() == decode(codec, array, i));
        }
      });
    }
  }
}

TEST_CASE("wide codes become narrow, and what is beyond the ends becomes an end") {
  for (const Codec codec : {Codec::fixed(12, 9), Codec::fixed(8, 5), Codec::fixed(4, 1)}) {
    INFO(int{codec.bits} << " bits");
    const int end = codec.largest_code();
    for (const std::size_t length : {0, 1, 2, 7, 16, 31, 64, 99, 255, 256, 257, 312, 601}) {
      INFO("length " << length);
      std::mt19937 random(static_cast<std::uint32_t>(length));
      std::vector<std::int16_t> codes(length);
      for (std::int16_t& code : codes) {
        const int within = static_cast<int>(random() % (2u * end + 2u)) - end - 1;
        code = static_cast<std::int16_t>(random() % 3 == 0 ? random() : within);
      }
      const Guarded<Fixed16> wide(length);
      for (std::size_t i = 0; i < length; ++i) wide[i].code = codes[i];
      for_each_table([&](const Kernels& kernels) {
        const Guarded<std::byte> array(codec.bytes(length));
        const bool shares = codec.in_pairs() && length % 2 != 0;
        std::byte* const last = array + (codec.bytes(length) - 1);
        if (shares) *last = std::byte{0x5a};
        kernels.narrow(codec, wide, length, array);
        if (shares) CHECK((*last & std::byte{0xf0}) == std::byte{0x50});
        for (std::size_t i = 0; i < length; ++i) {
          REQUIRE(code_at(codec, array, i) == std::clamp<int>(codes[i], -end - 1, end));
        }
      });
    }
  }
}

TEST_CASE("codes of 8 and 4 bits, wide and as numbers") {
  for (const int bits : {8, 4}) {
    const Codec codec = Codec::scaled(bits);
    INFO(bits << " bits");
    CHECK(codec.largest_code() == (bits == 8 ? 127 : 7));
    CHECK(codec.bytes(11) == (bits == 8 ? 15 : 10));
    for (const std::size_t length : {0, 1, 2, 15, 16, 31, 64, 99}) {
      std::vector<int> codes;
      const std::vector<std::byte> array = scaled_array(codec, length, 0.375f, codes);
      for_each_table([&](const Kernels& kernels) {
        const Guarded<std::byte> guarded(array);
        const Guarded<Fixed16> wide(length);
        const Floats out(length);
        CHECK(kernels.widen(codec, guarded, length, wide) == 0.375f);
        kernels.decode(codec, guarded, length, out);
        for (std::size_t i = 0; i < length; ++i) {
          REQUIRE(wide[i].code == codes[i]);
          REQUIRE(out[i] == 0.375f * static_cast<float>(codes[i]));
          REQUIRE(decode(codec, guarded, i) == out[i]);
        }
      });
    }
  }
}

TEST_CASE("codes of counts: 0 is exact, all others within half a unit of the logarithm") {
  const LogCode code;
  CHECK(code.unit() == 0x1p-11f);
  CHECK(code.encode(0) == 0);
  CHECK(code.encode(-0.0f) == 0);
  CHECK(code.encode(-3) == 0);
  CHECK(code.decode(0) == 0);
  for (std::uint32_t c = 0; c < 65536; ++c) {
    const auto back = code.encode(code.decode(static_cast<std::uint16_t>(c)));
    if (back != c) FAIL("code " << c << " came back as " << back);
    if (c > 0 && !(code.decode(static_cast<std::uint16_t>(c)) >
                   code.decode(static_cast<std::uint16_t>(c - 1)))) {
      FAIL("code " << c << " stands for no more than the one before");
    }
  }
  std::mt19937 random(3);
  for (int i = 0; i < 100000; ++i) {
    const double logarithm = 31 * static_cast<double>(random()) / 4294967296.0;
    float count = static_cast<float>(std::expm1(logarithm));
    if (i % 2 == 0) count = std::floor(count);
    const double off =
        std::log1p(double{code.decode(code.encode(count))}) - std::log1p(double{count});
    if (!(std::abs(off) <= 0x1p-12 + 1e-6)) FAIL(count << " is off by " << off);
  }
}

TEST_CASE("codes of counts end, whatever comes") {
  const LogCode code;
  CHECK(code.encode(1e14f) == 65535);
  CHECK(code.encode(std::numeric_limits<float>::max()) == 65535);
  CHECK(code.decode(65535) > 7e13f);
  for (const float unit : {1e-30f, 1.0f, 1e30f}) {
    const LogCode other(unit);
    CHECK(other.decode(0) == 0);
    CHECK(std::isfinite(other.decode(65535)));
  }
}

}  // namespace
}  // namespace leveret::kernels
