#pragma once
// What judge and worker say to each other. One message (descriptors of the memories) over a socket to load; then a
// control page in shared memory. The judge writes `command` and waits for `done`; whatever else a worker writes there
// is used for messages only and checked first, because candidate code may have written it.

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "device/arena/arena_worker.hpp"
#include "device/arena/zones.hpp"
#include "sandbox/lockdown.hpp"
#include "sandbox/unique_fd.hpp"

namespace kerf::arena {

inline constexpr int kWorkerSocket = 3;           ///< descriptor number of the connection in the worker
inline constexpr int kMaxBatch = 1024;            ///< slots of one command
inline constexpr int kCrashExit = 118;            ///< exit status after a signal that the worker reported itself
inline constexpr std::uint32_t kLoadCommand = 1;  ///< value of `command` while loading; later ones count up
inline constexpr std::uint32_t kEnded = ~0U;      ///< value of `done` when the worker is about to end

enum class Action : std::uint32_t { run, upload, download };

/// What judge and worker tell each other, in a file of its own. Zero at first.
struct Control {
  std::atomic<std::uint32_t> command;  ///< futex: raised by the judge
  Action action;
  CallManner manner;  ///< of a run
  std::int32_t slot_count;
  std::array<std::int32_t, kMaxBatch> slots;

  alignas(64) std::atomic<std::uint32_t> done;  ///< futex: the command that is finished, by the worker
  std::uint32_t failed;                         ///< 1: the command failed, see `text`; 2: the device cannot be used
  double device_us;
  std::uint64_t arena_address;  ///< from which the worker has spread the slots' zones, for faulting their pages in
  std::uint64_t fault_address;
  std::uint32_t fault_signal;
  std::uint32_t fault_is_stack;
  std::uint32_t forbidden_call;  ///< number + 1
  std::array<char, 1500> text;
};
inline constexpr std::int64_t kControlBytes = 8192;
static_assert(sizeof(Control) <= kControlBytes && std::atomic<std::uint32_t>::is_always_lock_free);

/// The program in numbers, as the judge sends it. Offsets are into the files of the slots and of the scratch buffers.
struct LoadMessage {
  int inputs = 0;
  std::vector<std::vector<Place>> slots;
  std::vector<Place> scratch;
  std::vector<LaunchNumbers> launches;
  Surroundings surroundings;      ///< of the worker, as the judge sees them
  std::int64_t memory_bytes = 0;  ///< address-space limit beside the mapped memories; 0: none
};
std::string encode(const LoadMessage& message);
Result<LoadMessage> decode(std::string_view bytes);

/// Descriptors that travel with a load, in this order.
struct LoadFds {
  UniqueFd control, slots, scratch, artifact, message;
};
inline constexpr std::size_t kLoadFds = 5;
Status send_load(int socket, const std::array<int, kLoadFds>& fds);
/// not_found when the judge has closed the connection.
Result<LoadFds> receive_load(int socket);

/// Waits until `word` differs from `old` or the time is over; may return early.
void futex_wait(std::atomic<std::uint32_t>& word, std::uint32_t old, std::chrono::nanoseconds limit);
void futex_wake(std::atomic<std::uint32_t>& word);

}  // namespace kerf::arena
