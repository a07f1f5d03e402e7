#pragma once
// One end of a stream socket that carries framed messages, each optionally with one file descriptor.

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kerf::worker {

inline constexpr int kWorkerDescriptor = 3;  ///< where a worker finds its end

/// Owns the descriptor. Not thread-safe.
class Link {
 public:
  explicit Link(int descriptor) : descriptor_(descriptor) {}
  ~Link();
  Link(Link&& other) noexcept;
  Link& operator=(Link&& other) noexcept;

  int descriptor() const { return descriptor_; }

  /// Errc::unavailable when the other end is gone, Errc::timeout when it does not take the bytes in time.
  Status send(std::string_view payload, int passed_descriptor = -1, std::chrono::milliseconds limit = kNoLimit);

  /// One whole message. `received_descriptor` gets the descriptor that came with it, owned by the caller, or -1.
  Result<std::string> receive(std::chrono::milliseconds limit, int* received_descriptor = nullptr);

  static constexpr std::chrono::milliseconds kNoLimit{-1};

 private:
  int descriptor_ = -1;
};

/// First act of a worker's main: takes over descriptor 3, closes what else was inherited, applies `memory_bytes` as
/// address-space limit (0: none), and ends the process at once when the judge's end closes, whatever it is doing.
Result<Link> enter_worker(std::int64_t memory_bytes);

}  // namespace kerf::worker
