/// Numbers of every codec one by one, and arrays of them by every instruction set.
#include <string>

#include "kernels/arrays.h"
#include "kernels/no_numbers.h"

namespace leveret::kernels {
namespace {

const std::vector<Codec> kFixedCodecs = {
    Codec::fixed(16, 0),  Codec::fixed(16, 8), Codec::fixed(16, 12), Codec::fixed(16, 14),
    Codec::fixed(16, 15), Codec::fixed(8, 0),  Codec::fixed(8, 4),   Codec::fixed(8, 7),
    Codec::fixed(12, 0),  Codec::fixed(12, 9), Codec::fixed(4, 0),   Codec::fixed(4, 4)};

std::string text(Codec codec) {
  if (codec.kind == Codec::Kind::kFixed) {
    return std::to_string(codec.bits) + " bits, shift " + std::to_string(codec.shift);
  }
  return codec == Codec::bf16() ? "bf16" : codec == Codec::f32() ? "f32" : "none";
}

/// What x becomes.
float rounded(Codec codec, float x, std::uint32_t noise = kNearest) {
  std::byte room[5] = {};
  encode(codec, room + 1, 0, x, noise);  // nothing has to be aligned
  return decode(codec, room + 1, 0);
}

/// All numbers that a codec has, finite ones.
std::vector<float> numbers_of(Codec codec) {
  std::vector<float> all;
  if (codec == Codec::bf16()) {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
      const float x = to_float(Bf16{static_cast<std::uint16_t>(bits)});
      if (std::isfinite(x)) all.push_back(x);
    }
    return all;
  }
  const int end = 1 << (codec.bits - 1);
  for (int code = -end; code < end; ++code) {
    all.push_back(std::ldexp(static_cast<float>(code), -codec.shift));
  }
  return all;
}

TEST_CASE("sizes and ranges of codecs") {
  CHECK(Codec::none().bytes(7) == 0);
  CHECK(Codec::f32().bytes(7) == 28);
  CHECK(Codec::bf16().bytes(7) == 14);
  CHECK(Codec::fixed(16, 3).bytes(7) == 14);
  CHECK(Codec::fixed(8, 3).bytes(7) == 7);
  CHECK(Codec::fixed(12, 3).bytes(8) == 12);
  CHECK(Codec::fixed(4, 3).bytes(8) == 4);
  CHECK(Codec::fixed(12, 8).smallest() == -8);
  CHECK(Codec::fixed(4, 2).largest() == 1.75f);
  CHECK(Codec::fixed(16, kDefaultShift).unit() == 0x1p-12f);
  CHECK(Codec::fixed(16, kDefaultShift).smallest() == -8);
  CHECK(Codec::fixed(16, kDefaultShift).largest() == 8 - 0x1p-12f);
  CHECK(Codec::fixed(8, 7).smallest() == -1);
  CHECK(Codec::fixed(8, 7).largest() == 1 - 0x1p-7f);
  CHECK(Codec::fixed(8, -2).largest() == 508);
  CHECK(Codec::fixed(8, 7) != Codec::fixed(8, 6));
  CHECK(Codec().kind == Codec::Kind::kNone);
}

TEST_CASE("numbers of known codes") {
  const auto code16 = [](float x, int shift) {
    std::byte at[2];
    encode(Codec::fixed(16, shift), at, 0, x);
    return load_unaligned<std::int16_t>(at);
  };
  CHECK(code16(1, 12) == 4096);
  CHECK(code16(-2, 12) == -8192);
  CHECK(code16(1.5f, 12) == 6144);
  CHECK(code16(-0x1p-12f, 12) == -1);
  CHECK(code16(1, 8) == 256);
  CHECK(code16(-1.5f, 14) == -24576);
  CHECK(code16(300, 0) == 300);
  const auto code8 = [](float x, int shift) {
    std::byte at[1];
    encode(Codec::fixed(8, shift), at, 0, x);
    return load_unaligned<std::int8_t>(at);
  };
  CHECK(code8(1, 6) == 64);
  CHECK(code8(-0.5f, 7) == -64);
  CHECK(code8(-100, 0) == -100);
}

TEST_CASE("rounding to fixed point") {
  const Codec q = Codec::fixed(16, 12);
  CHECK(rounded(q, 1 + 0x1p-13f) == 1 + 0x1p-12f);  // a tie, upwards
  CHECK(rounded(q, -1 - 0x1p-13f) == -1);
  CHECK(rounded(q, 1 + 0x1p-14f) == 1);
  CHECK(rounded(q, -1 - 0x1p-14f, 0) == -1 - 0x1p-12f);
  CHECK(rounded(q, 1 + 0x1p-14f, 0xbfffffff) == 1);  // a quarter rounds up
  CHECK(rounded(q, 1 + 0x1p-14f, 0xc0000000) == 1 + 0x1p-12f);
  const Codec c = Codec::fixed(8, 4);
  CHECK(rounded(c, 1 + 0x1p-5f) == 1 + 0x1p-4f);
  CHECK(rounded(c, 1 + 0x1p-6f, 0xbfffffff) == 1);
  CHECK(rounded(c, 1 + 0x1p-6f, 0xc0000000) == 1 + 0x1p-4f);
}

TEST_CASE("what is beyond a codec becomes its end, and NaN some number of it") {
  for (const Codec codec : kFixedCodecs) {
    INFO(text(codec));
    for (const float times : {1.0f, 1.01f, 1e4f, 1e30f, kInfinity}) {
      for (const std::uint32_t noise : {0u, kNearest, 0xffffffffu}) {
        const float beyond = -codec.smallest() * times;
        CHECK(rounded(codec, beyond, noise) == codec.largest());
        CHECK(rounded(codec, -beyond, noise) == codec.smallest());
        CHECK(std::abs(rounded(codec, kNaN, noise)) <= -codec.smallest());
      }
    }
    for (const Kernels* kernels : all()) {
      if (!runs_here(*kernels)) continue;
      INFO("instruction set " << kernels->name);
      for (const std::size_t length : {1, 3, 16, 37}) {
        std::vector<float> in(length, kInfinity), out(length);
        for (std::size_t i = 0; i < length; i += 2) in[i] = -1e36f;
        if (length > 1) in[1] = kNaN;
        Guarded<std::byte> array(codec.bytes(length));
        kernels->encode(codec, in.data(), length, 0xfedcba98u, array);
        kernels->decode(codec, array, length, out.data());
        for (std::size_t i = 0; i < length; ++i) {
          if (i != 1) CHECK(out[i] == (i % 2 == 0 ? codec.smallest() : codec.largest()));
          CHECK(std::abs(out[i]) <= -codec.smallest());
        }
      }
    }
  }
  CHECK(rounded(Codec::bf16(), kInfinity, 0xffffffff) == kInfinity);
  CHECK(std::isnan(rounded(Codec::bf16(), kNaN)));
}

TEST_CASE("every number of a codec survives every instruction set, whatever the noise") {
  std::vector<Codec> codecs = kFixedCodecs;
  codecs.push_back(Codec::bf16());
  for (const Codec codec : codecs) {
    INFO(text(codec));
    const std::vector<float> numbers = numbers_of(codec);
    REQUIRE(numbers.size() >= (codec.bits < 16 ? 1u << codec.bits : 65024u));
    for (const std::uint32_t noise : {0u, kNearest, 0xffffffffu}) {
      for (const float x : numbers) {
        if (rounded(codec, x, noise) != x) FAIL(x << " became " << rounded(codec, x, noise));
      }
    }
    for (const Kernels* kernels : all()) {
      if (!runs_here(*kernels)) continue;
      INFO("instruction set " << kernels->name);
      // Pieces of every length, so that parts of registers are met, too.
      for (std::size_t first = 0, length = 1; first < numbers.size(); first += length++) {
        length = std::min(length, numbers.size() - first);
        const std::vector<float> piece(&numbers[first], &numbers[first] + length);
        const Guarded<std::byte> array(codec.bytes(length));
        Floats out(length);
        kernels->encode(codec, piece.data(), length, static_cast<std::uint32_t>(first * 977),
                        array);
        kernels->decode(codec, array, length, out);
        if (!same_bits(out.copy(), piece)) {
          FAIL("numbers from " << first << ", " << length << " of them");
        }
        const std::size_t last = length - 1;
        if (decode(codec, array, last) != piece[last]) FAIL("number " << first + last);
      }
    }
  }
}

/// The distance of the two numbers around x.
double unit_at(Codec codec, float x) {
  if (codec != Codec::bf16()) return codec.unit();
  return x == 0 ? 0 : std::ldexp(1.0, std::ilogb(x) - 7);
}

TEST_CASE("what lies between two numbers becomes one of them, each as often as it is near") {
  constexpr int kTimes = 4000;
  for (const Codec codec :
       {Codec::fixed(16, 8), Codec::fixed(16, 12), Codec::fixed(16, 14), Codec::fixed(8, 0),
        Codec::fixed(8, 4), Codec::fixed(12, 6), Codec::fixed(4, 1), Codec::bf16()}) {
    const bool fixed = codec.kind == Codec::Kind::kFixed;
    const float low = fixed ? codec.smallest() : -1e30f, high = fixed ? codec.largest() : 1e30f;
    std::vector<float> in = random_floats(130, 3, fixed ? .9f * low : -4, fixed ? .9f * high : 4);
    for (const float extreme : {1e-7f, -3e-6f, .99999f * high, .99999f * low, 0.0f}) {
      in.push_back(extreme);
    }
    for (const Kernels* kernels : all()) {
      if (!runs_here(*kernels)) continue;
      INFO("instruction set " << kernels->name << ", " << text(codec));
      std::vector<double> sum(in.size());
      std::vector<float> out(in.size());
      std::vector<std::byte> array(codec.bytes(in.size()));
      std::mt19937 seeds(2);
      for (int t = 0; t < kTimes; ++t) {
        kernels->encode(codec, in.data(), in.size(), static_cast<std::uint32_t>(seeds()),
                        array.data());
        kernels->decode(codec, array.data(), in.size(), out.data());
        for (std::size_t i = 0; i < in.size(); ++i) {
          const double off = std::abs(double{out[i]} - in[i]);
          if (!(off < unit_at(codec, in[i]) || out[i] == in[i])) {
            FAIL(in[i] << " became " << out[i]);
          }
          sum[i] += out[i];
        }
      }
      for (std::size_t i = 0; i < in.size(); ++i) {
        // The variance of a rounding is at most a quarter of a square unit: six deviations.
        const double off = std::abs(sum[i] / kTimes - in[i]);
        if (off > 3 * unit_at(codec, in[i]) / std::sqrt(kTimes)) {
          FAIL(in[i] << ": mean off by " << off);
        }
      }
    }
  }
}

TEST_CASE("to the nearest: half a unit away at most, whatever the noise and the instruction set") {
  for (Codec codec :
       {Codec::fixed(16, 12), Codec::fixed(12, 8), Codec::fixed(8, 4), Codec::fixed(4, 1)}) {
    codec.nearest = true;
    const std::vector<float> in = random_floats(37, 5, .9f * codec.smallest(), codec.largest());
    std::vector<std::byte> expected(codec.bytes(in.size()));
    encode_all(codec, expected.data(), 0, in.data(), in.size());
    for (std::size_t i = 0; i < in.size(); ++i) {
      CHECK(std::abs(decode(codec, expected.data(), i) - in[i]) <= codec.unit() / 2);
    }
    for (const Kernels* kernels : all()) {
      if (!runs_here(*kernels)) continue;
      INFO("instruction set " << kernels->name << ", " << text(codec));
      for (const std::uint32_t noise : {0u, 12345u, 0xffffffffu}) {
        std::vector<std::byte> got(expected.size());
        kernels->encode(codec, in.data(), in.size(), noise, got.data());
        CHECK(got == expected);
      }
    }
  }
}

TEST_CASE("floats are read and written as they are") {
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    for (std::size_t length = 0; length < 40; ++length) {
      const std::vector<float> in = random_floats(length, 4, -1e30f, 1e30f);
      Guarded<std::byte> array(4 * length);
      Floats out(length);
      kernels->encode(Codec::f32(), in.data(), length, 9, array);
      kernels->decode(Codec::f32(), array, length, out);
      CHECK(same_bits(out.copy(), in));
    }
  }
}

TEST_CASE("an array that is not stored reads as 0") {
  CHECK(decode(Codec::none(), nullptr, 3) == 0);
  encode(Codec::none(), nullptr, 3, 1.5f);
  for (const Kernels* kernels : all()) {
    if (!runs_here(*kernels)) continue;
    const std::vector<float> in = {1, 2, 3};
    std::vector<float> out = in;
    kernels->encode(Codec::none(), in.data(), 3, 1, nullptr);
    kernels->decode(Codec::none(), nullptr, 3, out.data());
    CHECK(out == std::vector<float>(3));
  }
}

TEST_CASE("encode_all is encode to the nearest, and touches nothing else") {
  for (const Codec codec : {Codec::f32(), Codec::bf16(), Codec::fixed(16, 12), Codec::fixed(16, 9),
                            Codec::fixed(12, 9), Codec::fixed(8, 5), Codec::fixed(4, 0)}) {
    INFO(text(codec));
    const std::vector<float> in = random_floats(37, 8, -9, 9);
    for (const std::size_t count : {0, 1, 5, 37}) {
      const std::vector<std::byte> before(codec.bytes(41), std::byte{0x5a});
      std::vector<std::byte> got = before, expected = before;
      encode_all(codec, got.data(), 3, in.data(), count);
      for (std::size_t i = 0; i < count; ++i) encode(codec, expected.data(), 3 + i, in[i]);
      CHECK(got == expected);
      CHECK((got == before) == (count == 0));
    }
  }
}

}  // namespace
}  // namespace leveret::kernels
