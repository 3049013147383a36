/// What one core of this machine can do at most: the bounds a learner's rate is divided by.
///
/// An FFM example touches a few dozen rows of about a kilobyte, anywhere in a table that is larger
/// than every cache, and writes them back; that is neither streaming nor single cache lines, so the
/// bandwidth of just this pattern is measured. Prints one "name<TAB>value<TAB>unit" per line.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The best of many short runs, work(0), work(1), …: others use the machine too, and none of them
/// makes it faster.
template <class Work>
double best_seconds(std::size_t runs, Work work) {
  double best = 1e30;
  for (std::size_t i = 0; i < runs; ++i) {
    const double start = now();
    work(i);
    best = std::min(best, now() - start);
  }
  return best;
}

/// Memory that has been touched, in huge pages where the system gives them.
class Region {
 public:
  explicit Region(std::size_t bytes) : bytes_(bytes) {
    void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
      std::perror("roofline: mmap");
      std::exit(1);
    }
    madvise(at, bytes, MADV_HUGEPAGE);
    std::memset(at, 0, bytes);
    data_ = static_cast<float*>(at);
  }
  ~Region() { munmap(data_, bytes_); }
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;
  float* data() const { return data_; }
  std::size_t floats() const { return bytes_ / sizeof(float); }

 private:
  float* data_;
  std::size_t bytes_;
};

/// Bytes read and written per second when every float is changed in order. A run does a part of the
/// region, and no part twice in a row, so that no cache holds it.
double streaming(const Region& region) {
  constexpr std::size_t kParts = 64;
  const std::size_t count = region.floats() / kParts;
  const double seconds = best_seconds(2 * kParts, [&](std::size_t run) {
    float* at = region.data() + run % kParts * count;
    for (std::size_t i = 0; i < count; ++i) at[i] += 1.0f;
    asm volatile("" ::: "memory");
  });
  return 2.0 * sizeof(float) * static_cast<double>(count) / seconds;
}

/// The sum of a row, to read it and nothing else.
float row_sum(const float* row, std::size_t size) {
  float sums[16] = {};
  for (std::size_t i = 0; i + 16 <= size; i += 16) {
    for (std::size_t c = 0; c < 16; ++c) sums[c] += row[i + c];
  }
  float sum = 0;
  for (float s : sums) sum += s;
  return sum;
}

/// Bytes read (and written) per second when rows are visited at random, an example's `kRows` at a
/// time, the next example's rows being prefetched meanwhile, as the learner does.
double random_rows(const Region& region, std::size_t row_floats, bool write) {
  constexpr std::size_t kRows = 39, kExamples = 300, kRuns = 60;
  const std::size_t rows = region.floats() / row_floats;
  std::vector<std::size_t> order(kRows * (kExamples * kRuns + 1));
  std::uint64_t state = 1;
  for (std::size_t& row : order) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    row = static_cast<std::size_t>((state >> 33) % rows) * row_floats;
  }
  float* table = region.data();
  float total = 0;
  const double seconds = best_seconds(kRuns, [&](std::size_t run) {
    const std::size_t* mine = &order[run * kExamples * kRows];
    for (std::size_t r = 0; r < kExamples * kRows; ++r) {
      const float* next = table + mine[r + kRows];
      for (std::size_t i = 0; i < row_floats; i += 16) __builtin_prefetch(next + i);
      float* row = table + mine[r];
      if (write) {
        for (std::size_t i = 0; i < row_floats; ++i) row[i] += 1.0f;
      } else {
        total += row_sum(row, row_floats);
      }
    }
    asm volatile("" : "+m"(total) : : "memory");
  });
  return (write ? 2.0 : 1.0) * sizeof(float) * static_cast<double>(row_floats * kRows * kExamples) /
         seconds;
}

/// Vectors of 4, 8 and 16 floats; where the CPU's registers are shorter, several of them.
typedef float Vector4 __attribute__((vector_size(16)));
typedef float Vector8 __attribute__((vector_size(32)));
typedef float Vector16 __attribute__((vector_size(64)));

/// Multiply-adds per second in registers: `kChains` independent sums of vectors.
template <class Vector, std::size_t kChains>
double multiply_adds() {
  constexpr long kRounds = 50'000;
  Vector sums[kChains] = {};
  Vector factor = Vector{} + 0.5f;
  Vector term = Vector{} + 1.0f;
  const double seconds = best_seconds(60, [&](std::size_t) {
    asm volatile("" : "+m"(factor), "+m"(term));
    const Vector f = factor, t = term;
    Vector own[kChains];
    for (std::size_t c = 0; c < kChains; ++c) own[c] = sums[c];
    for (long round = 0; round < kRounds; ++round) {
#pragma GCC unroll 32
      for (std::size_t c = 0; c < kChains; ++c) own[c] = own[c] * f + t;
    }
    for (std::size_t c = 0; c < kChains; ++c) sums[c] = own[c];
    asm volatile("" ::"m"(sums) : "memory");
  });
  return static_cast<double>(sizeof(Vector) / sizeof(float) * kChains * kRounds) / seconds;
}

/// Whichever width and number of chains suits this CPU: too few wait for each other, too many
/// spill.
double best_multiply_adds() {
  return std::max({multiply_adds<Vector4, 8>(), multiply_adds<Vector4, 12>(),
                   multiply_adds<Vector8, 8>(), multiply_adds<Vector8, 12>(),
                   multiply_adds<Vector16, 8>(), multiply_adds<Vector16, 12>(),
                   multiply_adds<Vector16, 16>()});
}

/// Four times the last cache, at least 512 MiB, at most a quarter of memory.
std::size_t region_bytes() {
  const long cache = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
  const auto memory = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                      static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t wanted =
      std::max<std::size_t>(512u << 20, 4 * static_cast<std::size_t>(std::max(cache, 0L)));
  return std::min(wanted, memory / 4) >> 21 << 21;
}

void print(const std::string& name, double value, const char* unit) {
  std::printf("%s\t%.2f\t%s\n", name.c_str(), value / 1e9, unit);
  std::fflush(stdout);
}

}  // namespace

int main() {
  const Region region(region_bytes());
  print("table", static_cast<double>(region.floats() * sizeof(float)), "GB");
  print("stream read+write", streaming(region), "GB/s");
  // Rows of 39 fields: k = 4 is 312 bytes of halves, k = 8 is 624; 1248 with weights of 32 bits.
  for (const std::size_t row : {78u, 156u, 312u}) {
    const std::string bytes = std::to_string(row * sizeof(float));
    print("random rows of " + bytes + " bytes, read", random_rows(region, row, false), "GB/s");
    print("random rows of " + bytes + " bytes, read+write", random_rows(region, row, true), "GB/s");
  }
  print("multiply-add", 2 * best_multiply_adds(), "GFLOP/s");
  return 0;
}
