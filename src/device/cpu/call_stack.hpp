#pragma once
// Calls on a stack of our own. Runs in the worker, where the kernel does.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/result.hpp"

namespace kerf::cpu {

/// The kernel's entry point with the function that passes it its arguments.
struct EntryPoint {
  void* function = nullptr;
  void (*caller)(void* function, void* const* arguments) = nullptr;
  std::size_t passed = 0;  ///< arguments that `caller` passes: the kernel's own and null pointers behind them
  std::size_t own = 0;     ///< the kernel's own
};

struct Call {
  const EntryPoint* entry = nullptr;
  void* const* arguments = nullptr;
};
void make_call(const Call& call);

inline constexpr std::int64_t kUsualStack = 8 << 20;  ///< bytes: what kernels may count on

/// Pages between two that are not mapped.
class GuardedPages {
 public:
  GuardedPages() = default;
  GuardedPages(GuardedPages&& other) noexcept;
  GuardedPages& operator=(GuardedPages&&) = delete;
  ~GuardedPages();

  /// `wish`: an address at which they should end, where there is room; 0: anywhere.
  static Result<GuardedPages> make(std::int64_t bytes, std::uintptr_t wish = 0);

  std::byte* begin() const { return begin_; }
  std::byte* end() const { return begin_ + bytes_; }
  Status make_read_only() const;

 private:
  std::byte* begin_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// What a call left behind in the processor; all 0 on processors where this cannot be seen.
struct Returned {
  std::uint64_t changed_registers;  ///< 0: the caller's registers are as they were
  std::uint64_t flags;              ///< as the kernel left them; the direction flag is cleared afterwards
};

/// The call with its stack below `top`, a multiple of 16. What is in registers that a caller may leave as they are is
/// another thing each time, now and then nothing: no kernel knows its caller by them. Those of vectors, masks, MMX and
/// x87 are filled for stretches of calls only; in between they hold what the call before left, as in a program. On
/// processors without all that: on the stack at hand.
Returned call_on_stack(const Call& call, std::byte* top);

/// The exception flags of the vector and of the x87 unit, as arithmetic of the caller leaves them: all or none.
void set_sticky_flags(bool raised);

/// Two stacks that calls take in turn. Where they lie differs in every bit of an address that differs between stacks of
/// ordinary programs, and in the bits of a page from call to call, so that no kernel knows a call by its stack. Every
/// second call begins at one and the same address, whoever asks for it: a kernel that counts its calls in what it left
/// on the stack counts them here as it would in a program's loop, and what it then does is compared like the rest.
/// Sticky flags are raised and not raised in turn, on both stacks.
class TwoStacks {
 public:
  static Result<TwoStacks> make(std::int64_t bytes);
  void call(const Call& call);

 private:
  TwoStacks(std::byte* own_top, GuardedPages other) : own_top_(own_top), other_(std::move(other)) {}
  std::byte* own_top_;  // on the thread's own stack, below all frames of the worker
  GuardedPages other_;
  std::uint64_t calls_ = 0;
};

}  // namespace kerf::cpu
