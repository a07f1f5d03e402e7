#include "device/cpu/guest_call.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <atomic>
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

constexpr std::byte kFiller{0xA5};
constexpr int kWindow = 8;        ///< calls between two looks at the heap
constexpr int kWindows = 4;       ///< the first warms the allocator up
constexpr int kMostWindows = 16;  ///< while the heap grows in each: what the allocator keeps for later is in use too
constexpr int kKeptCalls = 24;
constexpr std::int64_t kBlockHeader = 16;             ///< bytes that malloc puts in front of a block
constexpr std::int64_t kSoiledBytes = 512 << 10;      ///< of the stack of a call
constexpr std::int64_t kSoiledOfThreads = 128 << 10;  ///< of each thread's stack
constexpr int kLeastThreads = 4;  ///< of a region that looks at OpenMP's threads: kernels may ask for a few
constexpr std::uint32_t kFlushDenormals = 0x8040;  ///< in MXCSR
constexpr std::uint32_t kVectorControl = 0xFFC0;   ///< likewise, without the sticky flags

/// A copy of one buffer where the manner of the call wants it.
struct GuestBuffer {
  GuardedPages pages;
  std::byte* data = nullptr;
  std::int64_t bytes = 0;

  /// Only the element's own alignment is kept: the largest power of two up to 8 that divides the size is a multiple of
  /// it, whatever the element is.
  static Result<GuestBuffer> make(const arena::Buffer& from, Guest guest) {
    const std::int64_t shift = from.bytes == 0 ? 0 : std::min<std::int64_t>(8, from.bytes & -from.bytes);
    KERF_TRY(GuardedPages pages, GuardedPages::make(from.bytes + kBlockHeader));
    GuestBuffer made{std::move(pages), nullptr, from.bytes};
    made.data = guest == Guest::off_by_one     ? made.pages.begin() + shift
                : guest == Guest::as_allocated ? made.pages.begin() + kBlockHeader
                                               : made.pages.end() - from.bytes;
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

/// One call on a stack of the usual size; "" or what became of the caller's registers and flags.
std::string call_on(const GuardedPages& stack, const Call& call) {
  constexpr std::uint64_t kDirection = 1u << 10, kAlignmentCheck = 1u << 18, kOthers = 1u << 14 | 1u << 21;
  const Returned returned = call_on_stack(call, stack.end());
  if (returned.changed_registers != 0) return "changed registers that belong to its caller";
  if ((returned.flags & kDirection) != 0) return "left the direction flag set";
  if ((returned.flags & kAlignmentCheck) != 0) return "left the alignment check switched on";
  if ((returned.flags & kOthers) != 0) return "left flags of the processor set that no arithmetic sets";
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

  static Result<GuestBuffers> make(const EntryPoint& entry, const arena::Program& program, int slot, Guest guest) {
    GuestBuffers made;
    const std::size_t count = program.slots[static_cast<std::size_t>(slot)].size() + program.scratch.size();
    for (std::size_t i = 0; i < count; ++i) {
      KERF_TRY(GuestBuffer buffer, GuestBuffer::make(program.argument(slot, static_cast<int>(i)), guest));
      if (static_cast<int>(i) < program.inputs) KERF_TRY_VOID(buffer.pages.make_read_only());
      made.arguments.push_back(buffer.data);
      made.buffers.push_back(std::move(buffer));
    }
    made.arguments.resize(entry.passed);
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
  state.vector_control = _mm_getcsr() & kVectorControl;
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

bool OpenmpSettings::in_region(int threads, const std::function<void(int)>& work) const {
  struct Region {
    const std::function<void(int)>& work;
    int (*number)();
  };
  for (void* library : libraries_) {
    const auto run = find<void (*)(void (*)(void*), void*, unsigned, unsigned)>(library, "GOMP_parallel");
    const auto number = find<int (*)()>(library, "omp_get_thread_num");
    if (run == nullptr || number == nullptr) continue;
    Region region{work, number};
    const auto body = [](void* told) {
      const auto& here = *static_cast<const Region*>(told);
      here.work(here.number());
    };
    run(body, &region, static_cast<unsigned>(threads), 0);
    return true;
  }
  return false;
}

namespace {

std::uint32_t vector_control() {
#if defined(__x86_64__)
  return _mm_getcsr() & kVectorControl;
#else
  return 0;
#endif
}

void set_vector_control(std::uint32_t control) {
#if defined(__x86_64__)
  _mm_setcsr(control);
#else
  (void)control;
#endif
}

[[gnu::noinline]] void soil_this_stack() {
  std::array<std::byte, kSoiledOfThreads> room;
  std::memset(room.data(), kSoil, room.size());
  asm volatile("" : : "r"(room.data()) : "memory");
}

/// One call in the manner of the guest; "" or what the kernel did to its caller.
std::string call_once(const GuestKernel& kernel, const GuardedPages& stack, const Call& call, const CallManner& manner,
                      const CallerState& before) {
  ProcessorState expected = before.processor;
  const int threads = std::max(kernel.openmp.threads(), kLeastThreads);
  // A region of ours ends threads that the kernel had and ours has not; the last call before repeated ones leaves the
  // kernel's own to be counted.
  const bool looks_at_threads = kernel.redirected.uses_openmp && manner.guest != Guest::as_allocated;
  std::memset(stack.end() - kSoiledBytes, kSoil, kSoiledBytes);
  if (looks_at_threads)
    kernel.openmp.in_region(threads, [&](int thread) {
      if (thread == 0) return;
      soil_this_stack();
      set_vector_control(expected.vector_control);
    });
  std::string seen;
  const auto made = [&] {
    if (manner.flushes) set_vector_control(expected.vector_control |= kFlushDenormals);
    seen = call_on(stack, call);
    if (seen.empty()) seen = changed(expected, ProcessorState::read());
    set_vector_control(before.processor.vector_control);
  };
  {
    const RedirectedHeap redirected(kernel.redirected.heap);
    const SoiledHeap soiled;
    const bool inside = manner.guest == Guest::off_by_one && kernel.redirected.uses_openmp &&
                        kernel.openmp.in_region(2, [&](int thread) {
                          if (thread == 0) made();
                        });
    if (!inside) made();
  }
  // Changed settings are reported by the caller; regions under them could ask the system for its load.
  if (!seen.empty() || !looks_at_threads || kernel.openmp.read() != before.openmp) return seen;
  std::atomic<bool> kept = true;
  kernel.openmp.in_region(threads, [&](int thread) {
    if (thread != 0 && vector_control() != before.processor.vector_control) kept = false;
  });
  return kept ? "" : "left the control register of the vector unit (MXCSR) changed in OpenMP's threads";
}

}  // namespace

Status call_as_guest(const GuestKernel& kernel, int slot, const CallManner& manner, const CallerState& before) {
  const Guest guest = manner.guest;
  const arena::Program& program = kernel.program;
  KERF_TRY(const GuardedPages stack, GuardedPages::make(kUsualStack));
  KERF_TRY(const GuestBuffers copies, GuestBuffers::make(kernel.entry, program, slot, guest));
  const Call call{&kernel.entry, copies.arguments.data()};
  const auto harm = [](const std::string& what) { return fail(Errc::invalid_input, "the kernel " + what); };
  int grown = 0, windows = 0;
  std::size_t heap = heap_in_use();
  const auto one_call = [&]() -> std::string {
    const std::string seen = call_on(stack, call);
    const ProcessorState after = ProcessorState::read();
    return seen.empty() ? changed(before.processor, after) : seen;
  };
  if (guest != Guest::repeated) {
    if (const std::string what = call_once(kernel, stack, call, manner, before); !what.empty()) return harm(what);
  }
  const auto goes_on = [&] {
    return guest == Guest::repeated && (windows < kWindows || (windows < kMostWindows && grown == windows - 1));
  };
  for (int i = 0; goes_on(); ++i) {
    if (const std::string what = one_call(); !what.empty()) return harm(what);
    // The first calls may fill caches of the allocator and start threads; a leak goes on growing.
    if (i % kWindow != kWindow - 1) continue;
    const std::size_t now = heap_in_use();
    grown += i >= kWindow && now > heap ? 1 : 0;
    heap = now;
    ++windows;
  }
  if (grown == kMostWindows - 1) return harm("leaves memory allocated from call to call");
  if (guest == Guest::repeated) {
    // Freed blocks keep their contents: a kernel that remembers there shows it in the last of these calls.
    const RedirectedHeap redirected(kernel.redirected.heap);
    const KeptHeap kept;
    for (int i = 0; i < kKeptCalls; ++i)
      if (const std::string what = one_call(); !what.empty()) return harm(what);
  }
  const CallerState after = CallerState::read(kernel.openmp);
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
