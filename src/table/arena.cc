// Addresses are reserved without access and opened by mprotect as the array grows: the strictest
// accounting of the kernel (vm.overcommit_memory = 2) counts only what is open, and a stray pointer
// beyond the end faults. Moving a table of 10 GB once instead would need 20 GB for a moment, and
// stop all threads that hold pointers into it.
#include "table/arena.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace leveret::table {
namespace {

constexpr std::uint64_t kHugePage = std::uint64_t{2} << 20;
// From here on the huge page that is begun costs a quarter of the array on average at most, and the
// walks through the page tables that it saves are worth it: rows lie anywhere.
constexpr std::uint64_t kHugeFrom = 2 * kHugePage;
// The least that is opened at a time; later it is an eighth of the size, so that the number of
// system calls grows with the logarithm.
constexpr std::uint64_t kMinCommit = std::uint64_t{64} << 10;

#if defined(__SANITIZE_THREAD__)
#define LEVERET_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LEVERET_TSAN 1
#endif
#endif
#ifdef LEVERET_TSAN
// ThreadSanitizer has 1.5 TiB of addresses for the whole program, and ends it beyond.
constexpr std::uint64_t kMaxReservation = std::uint64_t{1} << 30;
#else
// Half of what a process has.
constexpr std::uint64_t kMaxReservation = std::uint64_t{1} << 46;
#endif

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

/// `unit` is a power of two.
std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) & ~(unit - 1);
}

std::byte* round_up(std::byte* at, std::uint64_t unit) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  return at + (round_up(address, unit) - address);
}

/// At `hint`, if that is free; null when the system refuses.
std::byte* reserve(std::uint64_t bytes, std::byte* hint = nullptr, int flags = 0) {
  flags |= MAP_PRIVATE | MAP_ANONYMOUS;
  void* at = ::mmap(hint, bytes, PROT_NONE, flags, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

/// A multiple of kHugePage far from all else, with `bytes` free bytes behind it; those of an array
/// of many GB are as many as there are addresses for.
std::byte* place_apart(std::uint64_t bytes) {
  constexpr std::uint64_t kFirst = std::uint64_t{1} << 45, kMost = std::uint64_t{1} << 36;
  static std::atomic<std::uint64_t> next{kFirst};
  const std::uint64_t room = round_up(std::min(bytes, kMost), kHugePage) + kHugePage;
  return reinterpret_cast<std::byte*>(next.fetch_add(room, std::memory_order_relaxed));
}

/// Replaces pages of a reservation by closed ones without memory. False when the kernel is out of
/// objects.
bool close_pages(std::byte* at, std::uint64_t bytes) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  return ::mmap(at, bytes, PROT_NONE, flags, -1, 0) != MAP_FAILED;
}

}  // namespace

std::uint64_t address_limit() {
  rlimit limit;
  const bool limited = ::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  return limited ? limit.rlim_cur : ~std::uint64_t{0};
}

Arena::Arena(std::uint64_t wanted, std::uint64_t lead) : lead_(lead) {
  const std::uint64_t bytes =
      round_up(std::clamp(wanted, std::uint64_t{1}, kMaxReservation) + lead, page_bytes());
  if (address_limit() != ~std::uint64_t{0}) {
    reserve_little(bytes);
  } else {
    reserve_all(bytes);
  }
  if (mapping_ == nullptr) {
    throw std::runtime_error(std::string("cannot reserve memory for a table: ") +
                             std::strerror(errno) + "; raise the limit (ulimit -v)");
  }
  data_ = round_up(mapping_, kHugePage);
}

/// Or the largest part that there is.
void Arena::reserve_all(std::uint64_t bytes) {
  for (;; bytes = round_up(bytes / 2, page_bytes())) {
    reserved_ = bytes;
    mapping_bytes_ = bytes + kHugePage;
    mapping_ = reserve(mapping_bytes_);
    if (mapping_ != nullptr || bytes == page_bytes()) return;
  }
}

/// A first page, with room behind it; or, where there is no such place, all of a small array, and
/// of a large one a part that leaves room for others.
void Arena::reserve_little(std::uint64_t bytes) {
  reserved_ = bytes;
  mapping_bytes_ = page_bytes();
  mapping_ = reserve(mapping_bytes_, place_apart(bytes));
  if (mapping_ == nullptr || mapping_ == round_up(mapping_, kHugePage)) return;
  // It did not get its place, nor one that is as good.
  ::munmap(mapping_, mapping_bytes_);
  const std::uint64_t limit = address_limit();
  reserve_all(bytes <= limit / 8 ? bytes : round_up(limit / 256, page_bytes()));
}

/// From the first page.
std::uint64_t Arena::mapped() const {
  return static_cast<std::uint64_t>(mapping_ + mapping_bytes_ - data_);
}

/// Sees to it that `bytes`, up to reserved_, are reserved in fact.
bool Arena::extend(std::uint64_t bytes) {
  const std::uint64_t before = mapped();
  if (bytes <= before) return true;
#ifdef MAP_FIXED_NOREPLACE
  std::byte* const end = data_ + before;
  const std::uint64_t more = round_up(bytes, page_bytes()) - before;
  std::byte* const at = reserve(more, end, MAP_FIXED_NOREPLACE);
  if (at == end) {
    mapping_bytes_ += more;
    huge_ = false;
    return true;
  }
  if (at != nullptr) ::munmap(at, more);  // Linux before 4.17 takes the address for a hint
#endif
  return false;
}

Arena::~Arena() { release(); }

Arena::Arena(Arena&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      lead_(std::exchange(other.lead_, 0)),
      size_(std::exchange(other.size_, 0)),
      committed_(std::exchange(other.committed_, 0)),
      reserved_(std::exchange(other.reserved_, 0)),
      mapping_(std::exchange(other.mapping_, nullptr)),
      mapping_bytes_(std::exchange(other.mapping_bytes_, 0)),
      huge_(std::exchange(other.huge_, false)),
      is_mapped_(std::exchange(other.is_mapped_, false)) {}

Arena& Arena::operator=(Arena&& other) noexcept {
  if (this == &other) return *this;
  release();
  data_ = std::exchange(other.data_, nullptr);
  lead_ = std::exchange(other.lead_, 0);
  size_ = std::exchange(other.size_, 0);
  committed_ = std::exchange(other.committed_, 0);
  reserved_ = std::exchange(other.reserved_, 0);
  mapping_ = std::exchange(other.mapping_, nullptr);
  mapping_bytes_ = std::exchange(other.mapping_bytes_, 0);
  huge_ = std::exchange(other.huge_, false);
  is_mapped_ = std::exchange(other.is_mapped_, false);
  return *this;
}

void Arena::release() noexcept {
  if (mapping_ != nullptr) ::munmap(mapping_, mapping_bytes_);
}

bool Arena::resize(std::uint64_t bytes) {
  if (bytes > reserved()) return false;
  const std::uint64_t end = lead_ + bytes;
  if (end > committed_ && !commit(end)) return false;
  if (bytes < size_) {
    const std::uint64_t kept = round_up(end, page_bytes());
    // Bytes that are cut off must be zero when the array grows over them again.
    std::memset(data_ + end, 0, std::min(kept, lead_ + size_) - end);
    decommit(kept);
  }
  size_ = bytes;
  if (size_ >= kHugeFrom) use_huge_pages();
  return true;
}

/// Opens at least `bytes`, and some in advance where the system has them.
bool Arena::commit(std::uint64_t bytes) {
  const std::uint64_t needed = round_up(bytes, page_bytes());
  // A huge page comes into being only where all of it is open.
  const std::uint64_t unit = bytes >= kHugeFrom ? kHugePage : kMinCommit;
  const std::uint64_t wished = std::min(round_up(bytes + bytes / 8, unit), reserved_);
  for (const std::uint64_t target : {std::max(wished, needed), needed}) {
    if (extend(target) &&
        ::mprotect(data_ + committed_, target - committed_, PROT_READ | PROT_WRITE) == 0) {
      committed_ = target;
      return true;
    }
  }
  return false;
}

/// Gives back the pages from `from` on. They are replaced, not discarded: a discarded page of a
/// file would come back with the file's bytes.
void Arena::decommit(std::uint64_t from) {
  if (from >= committed_) return;
  if (!close_pages(data_ + from, committed_ - from)) {
    // Keep them open, as empty ones.
    std::memset(data_ + from, 0, committed_ - from);
    return;
  }
  committed_ = from;
  huge_ = false;
}

/// For the whole reservation, so that opened pages stay one mapping with those before them.
void Arena::use_huge_pages() {
  if (huge_) return;
  huge_ = true;
#ifdef MADV_HUGEPAGE
  ::madvise(data_, std::min(round_up(reserved_, page_bytes()), mapped()), MADV_HUGEPAGE);
#endif
}

void Arena::reset() {
  size_ = 0;
  decommit(0);
  is_mapped_ = false;
}

bool Arena::map(int fd, std::uint64_t offset, std::uint64_t bytes) {
  reset();
  if (bytes == 0 || bytes > reserved() || lead_ != 0 || offset % page_bytes() != 0) return false;
  const std::uint64_t pages = round_up(bytes, page_bytes());
  if (!extend(pages)) return false;
  const int flags = MAP_PRIVATE | MAP_NORESERVE | MAP_FIXED;
  if (::mmap(data_, pages, PROT_READ | PROT_WRITE, flags, fd, static_cast<off_t>(offset)) ==
      MAP_FAILED) {
    // A failed MAP_FIXED may have taken the old pages away (mmap(2)): put closed ones there again.
    close_pages(data_, std::max(committed_, pages));
    committed_ = 0;
    return false;
  }
  committed_ = std::max(committed_, pages);
  size_ = bytes;
  is_mapped_ = true;
  // The rest of the last page is the file's: a larger page of the machine may even hold the next
  // section. It is looked at first, because writing would copy the page.
  std::byte* tail = data_ + bytes;
  std::byte* end = data_ + pages;
  if (std::any_of(tail, end, [](std::byte b) { return b != std::byte{0}; })) {
    std::memset(tail, 0, static_cast<std::size_t>(end - tail));
  }
  return true;
}

}  // namespace leveret::table
