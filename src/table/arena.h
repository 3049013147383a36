/// A contiguous array of bytes that grows without ever moving.
///
/// It reserves addresses, not memory: pages come into being when they are touched, up to the
/// reservation. So tables hand out plain pointers, hogwild threads read while one thread appends,
/// and a saved section can be put under the array by mmap.
///
/// One thread at a time may call resize, map or reset; other threads may use bytes that were below
/// size() when it was made known to them. The arena owns its memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace leveret::table {

/// Bytes of addresses that `ulimit -v` leaves a process; the largest number without a limit.
std::uint64_t address_limit();

class Arena {
 public:
  /// No reservation: cannot grow.
  Arena() = default;
  /// Reserves `wanted` bytes of addresses, or the largest half, quarter, … of it that the system
  /// grants. Where addresses are limited (ulimit -v), only what is used is reserved, with free ones
  /// behind it as far as there are. std::runtime_error when it does not grant one page.
  ///
  /// `lead` bytes are left free before the first one, so that data() is at `lead` beyond a multiple
  /// of 2 MiB: arrays whose first bytes are all in use at once then do not compete for the same
  /// sets of the caches. A multiple of 64 below 4096; with it, no file can be mapped.
  explicit Arena(std::uint64_t wanted, std::uint64_t lead = 0);
  ~Arena();
  Arena(Arena&& other) noexcept;
  Arena& operator=(Arena&& other) noexcept;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  /// Never changes but by a move of the arena; aligned to 2 MiB (plus the lead). Null without a
  /// reservation.
  std::byte* data() { return data_ + lead_; }
  const std::byte* data() const { return data_ + lead_; }
  std::uint64_t size() const { return size_; }
  /// The largest size it can have; where addresses are limited, it may prove to be less.
  std::uint64_t reserved() const { return reserved_ - lead_; }

  /// Makes `bytes` bytes usable; new ones are zero, and those beyond a smaller size are given back.
  /// False, with nothing changed, beyond the reservation or when the system has no more memory.
  [[nodiscard]] bool resize(std::uint64_t bytes);

  /// Replaces the content by pages of the file: the `bytes` bytes at `offset`, which it must have.
  /// Writing to the arena does not change the file, which may be closed; what others write to the
  /// file changes the arena, and where they shorten it, reading raises SIGBUS. False, with
  /// an empty arena, when that cannot be: beyond the reservation, not on the boundary of a page
  /// (those of the machine may be larger than those of the file), with a lead.
  [[nodiscard]] bool map(int fd, std::uint64_t offset, std::uint64_t bytes);
  bool is_mapped() const { return is_mapped_; }

  /// Asks for huge pages whatever the size, for what has been made usable; large arenas ask for
  /// them anyway.
  void use_huge_pages();

  /// Gives all memory back, keeps the reservation.
  void reset();

 private:
  void reserve_all(std::uint64_t bytes);
  void reserve_little(std::uint64_t bytes);
  bool extend(std::uint64_t bytes);
  std::uint64_t mapped() const;
  bool commit(std::uint64_t bytes);
  void decommit(std::uint64_t from);
  void release() noexcept;

  std::byte* data_ = nullptr;  ///< the first page
  std::uint64_t lead_ = 0;
  std::uint64_t size_ = 0;        ///< without the lead
  std::uint64_t committed_ = 0;   ///< pages [0, committed_) may be read and written
  std::uint64_t reserved_ = 0;    ///< it may become as large
  std::byte* mapping_ = nullptr;  ///< what the system gave, of which data_ is the aligned part
  std::uint64_t mapping_bytes_ = 0;
  bool huge_ = false;
  bool is_mapped_ = false;  ///< pages of a file are among ours
};

}  // namespace leveret::table
