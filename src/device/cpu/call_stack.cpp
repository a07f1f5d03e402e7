#include "device/cpu/call_stack.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "base/rng.hpp"

namespace kerf::cpu {
namespace {

constexpr std::int64_t kPageBytes = 4096;
/// Stacks of threads and of programs lie between 0x7f0000000000 and 0x7fffffffffff; these bits tell them apart.
constexpr std::uintptr_t kVariedBits = 0x00fffffff000;
constexpr std::uintptr_t kFrames = 64 << 10;  ///< bytes that the worker's own frames take at most
constexpr std::int64_t kTouched = 256 << 10;  ///< bytes of a new stack, so that calls find pages there

#if defined(__x86_64__)

extern "C" Returned kerf_call_on_stack(const Call* call, void (*made)(const Call&), void* stack_top,
                                       const std::uint64_t* registers);

// The callee's registers are filled with the given values, the stack is switched, and both are looked at afterwards.
asm(R"(
.text
.globl kerf_call_on_stack
.hidden kerf_call_on_stack
.type kerf_call_on_stack, @function
kerf_call_on_stack:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, -8(%rdx)
  mov %rcx, -16(%rdx)
  lea -32(%rdx), %rsp
  mov %rsi, %rax
  mov (%rcx), %rbx
  mov 8(%rcx), %rbp
  mov 16(%rcx), %r12
  mov 24(%rcx), %r13
  mov 32(%rcx), %r14
  mov 40(%rcx), %r15
  call *%rax
  pushfq
  pop %rdx
  cld
  mov 16(%rsp), %rcx
  mov (%rcx), %rax
  xor %rbx, %rax
  xor 8(%rcx), %rbp
  or %rbp, %rax
  xor 16(%rcx), %r12
  or %r12, %rax
  xor 24(%rcx), %r13
  or %r13, %rax
  xor 32(%rcx), %r14
  or %r14, %rax
  xor 40(%rcx), %r15
  or %r15, %rax
  mov 24(%rsp), %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size kerf_call_on_stack, .-kerf_call_on_stack
)");

/// What a program may have in registers: small numbers, sizes, addresses.
std::array<std::uint64_t, 6> some_registers() {
  static std::uint64_t turn =
      reinterpret_cast<std::uintptr_t>(&turn) ^ reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  std::array<std::uint64_t, 6> values{};
  for (std::uint64_t& value : values) {
    const std::uint64_t bits = mix64(++turn);
    value = (bits >> 17) >> (bits % 47);
  }
  return values;
}

#endif

}  // namespace

void make_call(const Call& call) { call.entry->caller(call.entry->function, call.arguments); }

GuardedPages::GuardedPages(GuardedPages&& other) noexcept
    : begin_(std::exchange(other.begin_, nullptr)), bytes_(other.bytes_) {}

GuardedPages::~GuardedPages() {
  if (begin_ != nullptr) ::munmap(begin_ - kPageBytes, static_cast<std::size_t>(bytes_ + 2 * kPageBytes));
}

Result<GuardedPages> GuardedPages::make(std::int64_t bytes, std::uintptr_t wish) {
  GuardedPages pages;
  pages.bytes_ = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  const auto all = static_cast<std::size_t>(pages.bytes_ + 2 * kPageBytes);
  void* const at = wish == 0 ? nullptr : reinterpret_cast<void*>(wish + static_cast<std::uintptr_t>(kPageBytes) - all);
  void* base = ::mmap(at, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) return fail(Errc::unavailable, fmt::format("guarded memory: {}", std::strerror(errno)));
  pages.begin_ = static_cast<std::byte*>(base) + kPageBytes;
  if (::mprotect(pages.begin_, static_cast<std::size_t>(pages.bytes_), PROT_READ | PROT_WRITE) != 0)
    return fail(Errc::unavailable, fmt::format("guarded memory: {}", std::strerror(errno)));
  return pages;
}

Status GuardedPages::make_read_only() const {
  if (::mprotect(begin_, static_cast<std::size_t>(bytes_), PROT_READ) == 0) return {};
  return fail(Errc::unavailable, fmt::format("guarded memory: {}", std::strerror(errno)));
}

Returned call_on_stack(const Call& call, std::byte* top) {
#if defined(__x86_64__)
  const auto registers = some_registers();
  return kerf_call_on_stack(&call, make_call, top, registers.data());
#else
  (void)top;
  make_call(call);
  return {0, 0};
#endif
}

void set_sticky_flags(bool raised) {
#if defined(__x86_64__)
  constexpr std::uint32_t kFlags = 0x3F;
  _mm_setcsr((_mm_getcsr() & ~kFlags) | (raised ? kFlags : 0));
  std::array<std::uint32_t, 7> environment{};
  asm volatile("fnstenv %0" : "=m"(environment));
  environment[1] = (environment[1] & ~kFlags) | (raised ? kFlags : 0);
  asm volatile("fldenv %0" : : "m"(environment));
#else
  (void)raised;
#endif
}

Result<TwoStacks> TwoStacks::make(std::int64_t bytes) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) & ~std::uintptr_t{kPageBytes - 1};
  KERF_TRY(GuardedPages other, GuardedPages::make(bytes, here ^ kVariedBits));
  const std::int64_t touched = std::min<std::int64_t>(kTouched, other.end() - other.begin());
  std::fill(other.end() - touched, other.end(), std::byte{0});
  return TwoStacks(reinterpret_cast<std::byte*>(here - kFrames), std::move(other));
}

void TwoStacks::call(const Call& call) {
  constexpr std::uint64_t kLine = 64, kLines = kPageBytes / kLine;
  const std::uint64_t number = calls_++;
  std::byte* const top = number % 2 == 0 ? own_top_ : other_.end() - kLine * (number / 2 * 29 % kLines);
  set_sticky_flags(number / 2 % 2 != 0);
  call_on_stack(call, top);
}

}  // namespace kerf::cpu
