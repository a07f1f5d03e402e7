#include "device/cpu/call_stack.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#include <sys/auxv.h>
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

/// Which vector registers are filled, and how far; with `none` the mask, MMX and x87 registers are left, too.
enum class Vectors : std::uint64_t { xmm, xmm_of_avx, ymm, avx512, zmm, none };

/// One call for the code below, which knows the order of the members.
struct Registers {
  void* function;
  void* const* stack_arguments;  // those beyond six, the first of them first
  std::uint64_t stack_count;
  std::uint64_t arguments[6];
  std::uint64_t kept[6];  // rbx, rbp, r12 to r15, which the callee keeps
  std::uint64_t rax, r10, r11;
  std::uint64_t flags;  // of arithmetic
  const std::byte* low_vectors;
  const std::byte* high_vectors;
  const std::byte* masks;
  const std::byte* mmx;
  const std::uint32_t* x87;  // an environment
  Vectors vectors;
};
static_assert(offsetof(Registers, arguments) == 24 && offsetof(Registers, kept) == 72 &&
              offsetof(Registers, rax) == 120 && offsetof(Registers, low_vectors) == 152 &&
              offsetof(Registers, vectors) == 192);

extern "C" Returned kerf_call_on_stack(const Registers* registers, void* stack_top);

// Fills the registers, switches the stack and looks at both afterwards. The call goes by way of memory, so that it puts
// the function's address into no register; programs' calls do not either.
asm(R"(
.macro kerf_fill_low instruction, register
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
  \instruction (\number & 3) * 64(%r10), \register\number
  .endr
.endm
.macro kerf_fill_high instruction, register
  .irp number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
  \instruction (\number & 3) * 64(%r11), \register\number
  .endr
.endm
.macro kerf_fill_words instruction, register
  .irp number, 0, 1, 2, 3, 4, 5, 6, 7
  \instruction \number * 8(%r10), \register\number
  .endr
.endm
.text
.local kerf_call_target, kerf_call_registers, kerf_call_return
.comm kerf_call_target, 8, 8
.comm kerf_call_registers, 8, 8
.comm kerf_call_return, 8, 8
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
  mov %rsp, kerf_call_return(%rip)
  mov %rdi, kerf_call_registers(%rip)
  mov (%rdi), %rax
  mov %rax, kerf_call_target(%rip)
  mov %rsi, %rsp
  mov 8(%rdi), %r8
  mov 16(%rdi), %rax
  test $1, %al
  jz 2f
  sub $8, %rsp
2:
  test %rax, %rax
  jz 3f
  dec %rax
  pushq (%r8, %rax, 8)
  jmp 2b
3:
  mov 152(%rdi), %r10
  mov 160(%rdi), %r11
  mov 192(%rdi), %rax
  cmp $5, %rax
  je 21f
  cmp $1, %rax
  jb 10f
  je 11f
  cmp $3, %rax
  jb 12f
  je 13f
  kerf_fill_low vmovdqu64, %zmm
  kerf_fill_high vmovdqu64, %zmm
  jmp 14f
10:
  kerf_fill_low movups, %xmm
  jmp 20f
11:
  vzeroupper
  kerf_fill_low vmovups, %xmm
  jmp 20f
12:
  kerf_fill_low vmovups, %ymm
  jmp 20f
13:
  kerf_fill_high vmovdqu64, %ymm
  vzeroupper
  kerf_fill_low vmovups, %xmm
14:
  mov 168(%rdi), %r10
  kerf_fill_words kmovq, %k
20:
  mov 176(%rdi), %r10
  kerf_fill_words movq, %mm
  emms
  mov 184(%rdi), %r10
  fldenv (%r10)
21:
  mov 72(%rdi), %rbx
  mov 80(%rdi), %rbp
  mov 88(%rdi), %r12
  mov 96(%rdi), %r13
  mov 104(%rdi), %r14
  mov 112(%rdi), %r15
  pushq 144(%rdi)
  popfq
  mov 120(%rdi), %rax
  mov 128(%rdi), %r10
  mov 136(%rdi), %r11
  mov 32(%rdi), %rsi
  mov 40(%rdi), %rdx
  mov 48(%rdi), %rcx
  mov 56(%rdi), %r8
  mov 64(%rdi), %r9
  mov 24(%rdi), %rdi
  call *kerf_call_target(%rip)
  pushfq
  pop %rdx
  cld
  mov kerf_call_registers(%rip), %rcx
  mov 72(%rcx), %rax
  xor %rbx, %rax
  xor 80(%rcx), %rbp
  or %rbp, %rax
  xor 88(%rcx), %r12
  or %r12, %rax
  xor 96(%rcx), %r13
  or %r13, %rax
  xor 104(%rcx), %r14
  or %r14, %rax
  xor 112(%rcx), %r15
  or %r15, %rax
  mov kerf_call_return(%rip), %rsp
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
std::uint64_t some_value(std::uint64_t bits) { return (bits >> 17) >> (bits % 47); }

/// Fills registers anew for every call.
class RegisterFiller {
 public:
  RegisterFiller() {
    for (std::uint64_t& word : words_) word = mix64(++turn_);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
      best_ = Vectors::avx512;
    else if (__builtin_cpu_supports("avx"))
      best_ = Vectors::xmm_of_avx;
  }

  /// Whether the next call finds its vector registers and the like filled. Stretches of calls that do, so that nothing
  /// is recognised by them, take turns with longer ones that find what the call before left: a kernel that counts its
  /// calls there counts them as in a program's loop, and what it then does is compared like the rest.
  bool turn() {
    constexpr std::uint64_t kFilled = 5, kLeft = 13;  // powers of two
    if (stretch_ == 0) {
      fills_ = !fills_;
      stretch_ = std::uint64_t{1} << mix64(++turn_) % (fills_ ? kFilled : kLeft);
    }
    --stretch_;
    return fills_;
  }

  /// `x87`: the unit's environment as it is, which gets other addresses of a last instruction.
  Registers next(const Call& call, bool fills, std::array<std::uint32_t, 7>& x87) {
    // Upper halves cost later code of processors time: programs leave them in use seldom.
    constexpr std::uint64_t kSeldom = 256, kArithmetic = 0x8D5, kAlways = 0x202;
    const std::uint64_t bits = mix64(++turn_);
    words_[turn_ % words_.size()] = bits;
    const auto* random = reinterpret_cast<const std::byte*>(words_.data() + 8 * (bits >> 61));
    const auto* zeros = reinterpret_cast<const std::byte*>(zeros_.data());
    const auto one_of = [&](int bit) { return (bits >> bit & 1) != 0 ? random : zeros; };
    const EntryPoint& entry = *call.entry;
    Registers registers{};
    registers.function = entry.function;
    const std::size_t in_registers = std::min(entry.own, std::size(registers.arguments));
    registers.stack_arguments = call.arguments + in_registers;
    registers.stack_count = entry.own - in_registers;
    for (std::size_t i = 0; i < std::size(registers.arguments); ++i) {
      const std::uint64_t value = mix64(++turn_);
      registers.arguments[i] = i < in_registers ? reinterpret_cast<std::uint64_t>(call.arguments[i])
                               : value % 4 == 0 ? 0
                                                : some_value(value);
    }
    for (std::uint64_t& kept : registers.kept) kept = some_value(mix64(++turn_));
    const auto function = reinterpret_cast<std::uint64_t>(entry.function);  // where calls by pointer have it, or not
    for (std::uint64_t* scratch : {&registers.rax, &registers.r10, &registers.r11}) {
      const std::uint64_t value = mix64(++turn_);
      *scratch = value % 4 == 0 ? function : value % 4 == 1 ? 0 : some_value(value);
    }
    registers.flags = kAlways | (bits & kArithmetic);
    registers.low_vectors = one_of(12);
    registers.high_vectors = one_of(13);
    registers.masks = one_of(14);
    registers.mmx = one_of(15);
    if ((bits >> 16 & 1) != 0) {
      x87[3] = static_cast<std::uint32_t>(random[0]) << 12 | static_cast<std::uint32_t>(bits >> 40);
      x87[5] = static_cast<std::uint32_t>(bits >> 32);
    } else {
      x87[3] = x87[5] = 0;
    }
    registers.x87 = x87.data();
    const bool all = (bits >> 20) % kSeldom == 0;
    registers.vectors = !fills                         ? Vectors::none
                        : !all                         ? best_
                        : best_ == Vectors::avx512     ? Vectors::zmm
                        : best_ == Vectors::xmm_of_avx ? Vectors::ymm
                                                       : best_;
    return registers;
  }

 private:
  std::uint64_t turn_ = reinterpret_cast<std::uintptr_t>(this) ^
                        std::uint64_t{reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0))};
  Vectors best_ = Vectors::xmm;
  bool fills_ = false;
  std::uint64_t stretch_ = 0;                            // calls that are left of it
  static constexpr std::size_t kWords = 8;               // of a vector; the registers take four of them in turn
  std::array<std::uint64_t, (8 + 3) * kWords> words_{};  // any of the first eight begins such four
  std::array<std::uint64_t, 4 * kWords> zeros_{};
};

/// Registers that programs do not use and kernels may write: `reset` takes away what a call left there.
class UnusedRegisters {
 public:
  UnusedRegisters() {
    constexpr unsigned long kFsgsbase = 1u << 1;  // HWCAP2_FSGSBASE: the system lets programs write these
    has_base_ = (::getauxval(AT_HWCAP2) & kFsgsbase) != 0;
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kProtectionKeys = 1u << 4;  // OSPKE
    has_keys_ = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & kProtectionKeys) != 0;
    if (has_keys_) asm volatile("rdpkru" : "=a"(keys_), "=d"(d) : "c"(0));
    if (has_base_) asm volatile("rdgsbase %0" : "=r"(base_));
  }
  void reset() const {
    if (has_base_) asm volatile("wrgsbase %0" : : "r"(base_));
    if (has_keys_) asm volatile("wrpkru" : : "a"(keys_), "c"(0), "d"(0) : "memory");
  }

 private:
  bool has_base_ = false, has_keys_ = false;
  std::uint64_t base_ = 0;
  std::uint32_t keys_ = 0;
};

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
  static RegisterFiller filler;  // kernels are called from one thread
  static const UnusedRegisters unused;
  const bool fills = filler.turn();
  if (fills) unused.reset();
  std::array<std::uint32_t, 7> x87{};
  if (fills) asm volatile("fnstenv %0" : "=m"(x87));
  const Registers registers = filler.next(call, fills, x87);
  return kerf_call_on_stack(&registers, top);
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
