#pragma once
// Anonymous memory that can be handed to another process, mapped here.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "sandbox/unique_fd.hpp"

namespace kerf::arena {

class SharedMemory {
 public:
  SharedMemory() = default;
  SharedMemory(SharedMemory&& other) noexcept;
  SharedMemory& operator=(SharedMemory&& other) noexcept;
  ~SharedMemory();

  /// Zeros; nobody can change its size afterwards, so a mapping never faults.
  static Result<SharedMemory> make(std::int64_t bytes);
  /// A copy of `bytes` that nobody can write, here or in a process it is passed to.
  static Result<UniqueFd> make_read_only(std::string_view bytes);
  /// Maps memory that was passed to us.
  static Result<SharedMemory> open(UniqueFd fd, bool writable);

  std::byte* data() const { return data_; }
  std::int64_t bytes() const { return bytes_; }
  int fd() const { return fd_.number(); }
  /// Gives the pages of a part back to the system; they read as zeros. Best effort.
  void release(std::int64_t offset, std::int64_t bytes);
  /// Leaves the mapping in place for the rest of the process and closes the descriptor.
  void keep_mapped_forever();

 private:
  UniqueFd fd_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
};

}  // namespace kerf::arena
