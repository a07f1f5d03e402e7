#include "device/cpu/guest_call.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <clocale>
#include <cstring>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "device/cpu/kept_heap.hpp"

namespace kerf::cpu {
namespace {

using Guest = CallManner::Guest;

constexpr std::int64_t kPageBytes = 4096;
constexpr std::int64_t kUsualStack = 8 << 20;
constexpr std::byte kFiller{0xA5};
constexpr int kWindow = 8;   ///< calls between two looks at the heap
constexpr int kWindows = 4;  ///< the first warms the allocator up
constexpr int kKeptCalls = 24;

/// Pages between two that are not mapped.
class GuardedPages {
 public:
  GuardedPages() = default;
  GuardedPages(GuardedPages&& other) noexcept : begin_(std::exchange(other.begin_, nullptr)), bytes_(other.bytes_) {}
  GuardedPages& operator=(GuardedPages&&) = delete;
  ~GuardedPages() {
    if (begin_ != nullptr) ::munmap(begin_ - kPageBytes, static_cast<std::size_t>(bytes_ + 2 * kPageBytes));
  }

  static Result<GuardedPages> make(std::int64_t bytes) {
    GuardedPages pages;
    pages.bytes_ = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    const auto all = static_cast<std::size_t>(pages.bytes_ + 2 * kPageBytes);
    void* base = ::mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) return fail(Errc::unavailable, fmt::format("guest memory: {}", std::strerror(errno)));
    pages.begin_ = static_cast<std::byte*>(base) + kPageBytes;
    if (::mprotect(pages.begin_, static_cast<std::size_t>(pages.bytes_), PROT_READ | PROT_WRITE) != 0)
      return fail(Errc::unavailable, fmt::format("guest memory: {}", std::strerror(errno)));
    return pages;
  }

  std::byte* begin() const { return begin_; }
  std::byte* end() const { return begin_ + bytes_; }
  Status make_read_only() const {
    if (::mprotect(begin_, static_cast<std::size_t>(bytes_), PROT_READ) == 0) return {};
    return fail(Errc::unavailable, fmt::format("guest memory: {}", std::strerror(errno)));
  }

 private:
  std::byte* begin_ = nullptr;
  std::int64_t bytes_ = 0;
};

/// A copy of one buffer where the manner of the call wants it.
struct GuestBuffer {
  GuardedPages pages;
  std::byte* data = nullptr;
  std::int64_t bytes = 0;

  /// Only the element's own alignment is kept: the largest power of two up to 8 that divides the size is a multiple of
  /// it, whatever the element is.
  static Result<GuestBuffer> make(const arena::Buffer& from, Guest guest) {
    const std::int64_t shift = from.bytes == 0 ? 0 : std::min<std::int64_t>(8, from.bytes & -from.bytes);
    KERF_TRY(GuardedPages pages, GuardedPages::make(std::max<std::int64_t>(from.bytes + shift, 1)));
    GuestBuffer made{std::move(pages), nullptr, from.bytes};
    made.data = guest == Guest::off_by_one ? made.pages.begin() + shift : made.pages.end() - from.bytes;
    std::fill(made.pages.begin(), made.pages.end(), kFiller);
    std::copy_n(from.data, from.bytes, made.data);
    return made;
  }

  bool is_kept_inside() const {
    const auto untouched = [](const std::byte* begin, const std::byte* end) {
      return std::all_of(begin, end, [](std::byte one) { return one == kFiller; });
    };
    return untouched(pages.begin(), data) && untouched(data + bytes, pages.end());
  }
};

#if defined(__x86_64__)

struct Returned {
  std::uint64_t changed_registers;  ///< 0: the caller's registers are as they were
  std::uint64_t flags;              ///< as the kernel left them; the direction flag is cleared afterwards
};

extern "C" Returned kerf_call_on_stack(void (*call)(const void*), const void* argument, void* stack_top);

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
  mov %rdi, %rax
  mov %rsi, %rdi
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

struct Call {
  const EntryPoint* entry;
  void* const* arguments;
};
void make_call(const void* call) {
  const auto& made = *static_cast<const Call*>(call);
  made.entry->caller(made.entry->function, made.arguments);
}

/// One call on a stack of the usual size; "" or what became of the caller's registers and flags.
std::string call_on(const GuardedPages& stack, const Call& call) {
#if defined(__x86_64__)
  constexpr std::uint64_t kDirection = 1u << 10, kAlignmentCheck = 1u << 18, kOthers = 1u << 14 | 1u << 21;
  const Returned returned = kerf_call_on_stack(make_call, &call, stack.end());
  if (returned.changed_registers != 0) return "changed registers that belong to its caller";
  if ((returned.flags & kDirection) != 0) return "left the direction flag set";
  if ((returned.flags & kAlignmentCheck) != 0) return "left the alignment check switched on";
  if ((returned.flags & kOthers) != 0) return "left flags of the processor set that no arithmetic sets";
#else
  (void)stack;
  make_call(&call);
#endif
  return "";
}

/// "" or what of the processor is not as it was.
std::string changed(const ProcessorState& before, const ProcessorState& after) {
  if (before.vector_control != after.vector_control)
    return fmt::format(
        "left the control register of the vector unit changed (MXCSR {:#x} instead of {:#x}): rounding, "
        "denormals or exceptions of its caller",
        after.vector_control, before.vector_control);
  if (before.x87_control != after.x87_control)
    return fmt::format("left the control word of the x87 unit changed ({:#x} instead of {:#x})", after.x87_control,
                       before.x87_control);
  if (before.x87_tags != after.x87_tags) return "left registers of the x87 unit in use (MMX without emms)";
  if (before.segments != after.segments)
    return fmt::format("left segment registers changed ({:#x} instead of {:#x})", after.segments, before.segments);
  return "";
}

std::size_t heap_in_use() {
  const struct mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

/// The buffers of one call with their arguments.
struct GuestBuffers {
  std::vector<GuestBuffer> buffers;
  std::vector<void*> arguments;

  static Result<GuestBuffers> make(const arena::Program& program, int slot, Guest guest) {
    GuestBuffers made;
    const std::size_t count = program.slots[static_cast<std::size_t>(slot)].size() + program.scratch.size();
    for (std::size_t i = 0; i < count; ++i) {
      KERF_TRY(GuestBuffer buffer, GuestBuffer::make(program.argument(slot, static_cast<int>(i)), guest));
      if (static_cast<int>(i) < program.inputs) KERF_TRY_VOID(buffer.pages.make_read_only());
      made.arguments.push_back(buffer.data);
      made.buffers.push_back(std::move(buffer));
    }
    return made;
  }
};

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

ProcessorState ProcessorState::read() {
  ProcessorState state;
#if defined(__x86_64__)
  state.vector_control = _mm_getcsr() & 0xFFC0u;
  std::array<std::uint32_t, 7> environment{};
  asm volatile("fnstenv %0\n\tfldenv %0" : "+m"(environment));
  state.x87_control = static_cast<std::uint16_t>(environment[0]);
  state.x87_tags = static_cast<std::uint16_t>(environment[2]);
  std::uint16_t ds = 0, es = 0, fs = 0, gs = 0;
  asm volatile("mov %%ds, %0\n\tmov %%es, %1\n\tmov %%fs, %2\n\tmov %%gs, %3" : "=r"(ds), "=r"(es), "=r"(fs), "=r"(gs));
  state.segments = ds | std::uint64_t{es} << 16 | std::uint64_t{fs} << 32 | std::uint64_t{gs} << 48;
#endif
  return state;
}

CallerState CallerState::read(const OpenmpSettings& openmp) {
  return {ProcessorState::read(), openmp.read(), ::setlocale(LC_ALL, nullptr)};
}

OpenmpSettings::OpenmpSettings() {
  for (const char* name : {"libgomp.so.1", "libomp.so.5", "libomp.so"})
    if (void* library = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD)) libraries_.push_back(library);
}

std::string OpenmpSettings::read() const {
  std::string text;
  for (void* library : libraries_) {
    for (const char* name : {"omp_get_max_threads", "omp_get_dynamic", "omp_get_max_active_levels",
                             "omp_get_default_device", "omp_get_max_teams", "omp_get_teams_thread_limit"})
      if (const auto get = find<int (*)()>(library, name)) text += fmt::format("{} {} ", name, get());
    int kind = 0, chunk = 0;
    if (const auto get = find<void (*)(int*, int*)>(library, "omp_get_schedule")) get(&kind, &chunk);
    text += fmt::format("omp_get_schedule {} {} ", kind, chunk);
    if (const auto get = find<std::uintptr_t (*)()>(library, "omp_get_default_allocator"))
      text += fmt::format("omp_get_default_allocator {} ", get());
  }
  return text;
}

void OpenmpSettings::set_threads(int threads) const {
  for (void* library : libraries_)
    if (const auto set = find<void (*)(int)>(library, "omp_set_num_threads")) set(threads);
}

int OpenmpSettings::threads() const {
  for (void* library : libraries_)
    if (const auto get = find<int (*)()>(library, "omp_get_max_threads")) return get();
  return 1;
}

Status call_as_guest(const EntryPoint& entry, const arena::Program& program, int slot, Guest guest,
                     const OpenmpSettings& openmp, const CallerState& before) {
  KERF_TRY(const GuardedPages stack, GuardedPages::make(kUsualStack));
  KERF_TRY(const GuestBuffers copies, GuestBuffers::make(program, slot, guest));
  const Call call{&entry, copies.arguments.data()};
  const auto harm = [](const std::string& what) { return fail(Errc::invalid_input, "the kernel " + what); };
  int grown = 0;
  std::size_t heap = heap_in_use();
  const auto one_call = [&]() -> std::string {
    const std::string seen = call_on(stack, call);
    const ProcessorState after = ProcessorState::read();
    return seen.empty() ? changed(before.processor, after) : seen;
  };
  for (int i = 0; i < (guest == Guest::repeated ? kWindow * kWindows : 1); ++i) {
    if (const std::string what = one_call(); !what.empty()) return harm(what);
    // The first calls may fill caches of the allocator and start threads; a leak goes on growing.
    if (i % kWindow != kWindow - 1) continue;
    const std::size_t now = heap_in_use();
    grown += i >= kWindow && now > heap ? 1 : 0;
    heap = now;
  }
  if (grown == kWindows - 1) return harm("leaves memory allocated from call to call");
  if (guest == Guest::repeated) {
    // Freed blocks keep their contents: a kernel that remembers there shows it in the last of these calls.
    const KeptHeap kept;
    for (int i = 0; i < kKeptCalls; ++i)
      if (const std::string what = one_call(); !what.empty()) return harm(what);
  }
  const CallerState after = CallerState::read(openmp);
  if (after.openmp != before.openmp)
    return harm(fmt::format("left settings of OpenMP changed ({}instead of {})", after.openmp, before.openmp));
  if (after.locale != before.locale) return harm("left the locale changed");
  for (std::size_t i = 0; i < copies.buffers.size(); ++i) {
    const GuestBuffer& copy = copies.buffers[i];
    if (!copy.is_kept_inside()) return harm("wrote beside a buffer");
    if (static_cast<int>(i) >= program.inputs)
      std::copy_n(copy.data, copy.bytes, program.argument(slot, static_cast<int>(i)).data);
  }
  return {};
}

}  // namespace kerf::cpu
