#include "device/cpu/call_stack.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kerf::cpu {
namespace {

constexpr std::int64_t kPageBytes = 4096;
/// Stacks of threads and of programs lie between 0x7f0000000000 and 0x7fffffffffff; these bits tell them apart.
constexpr std::uintptr_t kVariedBits = 0x00fffffff000;
constexpr std::int64_t kTouched = 256 << 10;  ///< bytes of a new stack, so that calls find pages there

#if defined(__x86_64__)

extern "C" Returned kerf_call_on_stack(const Call* call, void (*made)(const Call&), void* stack_top);

// The callee's registers are filled with known values, the stack is switched, and both are looked at afterwards.
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
  lea -16(%rdx), %rsp
  mov %rsi, %rax
  movabs $0x5a17c3e9b4d20861, %rcx
  lea 1(%rcx), %rbx
  lea 2(%rcx), %rbp
  lea 3(%rcx), %r12
  lea 4(%rcx), %r13
  lea 5(%rcx), %r14
  lea 6(%rcx), %r15
  call *%rax
  pushfq
  pop %rdx
  cld
  movabs $0x5a17c3e9b4d20861, %rcx
  lea 1(%rcx), %rax
  xor %rbx, %rax
  lea 2(%rcx), %rsi
  xor %rbp, %rsi
  or %rsi, %rax
  lea 3(%rcx), %rsi
  xor %r12, %rsi
  or %rsi, %rax
  lea 4(%rcx), %rsi
  xor %r13, %rsi
  or %rsi, %rax
  lea 5(%rcx), %rsi
  xor %r14, %rsi
  or %rsi, %rax
  lea 6(%rcx), %rsi
  xor %r15, %rsi
  or %rsi, %rax
  mov 8(%rsp), %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size kerf_call_on_stack, .-kerf_call_on_stack
)");

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
  return kerf_call_on_stack(&call, make_call, top);
#else
  (void)top;
  make_call(call);
  return {0, 0};
#endif
}

Result<TwoStacks> TwoStacks::make(std::int64_t bytes) {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) & ~std::uintptr_t{kPageBytes - 1};
  KERF_TRY(GuardedPages other, GuardedPages::make(bytes, here ^ kVariedBits));
  const std::int64_t touched = std::min<std::int64_t>(kTouched, other.end() - other.begin());
  std::fill(other.end() - touched, other.end(), std::byte{0});
  return TwoStacks(std::move(other));
}

void TwoStacks::call(const Call& call) {
  constexpr std::uint64_t kLine = 64, kLines = kPageBytes / kLine;
  const std::uint64_t number = calls_++;
  if (number % 2 == 0) return make_call(call);
  call_on_stack(call, other_.end() - kLine * (number / 2 * 29 % kLines));
}

}  // namespace kerf::cpu
