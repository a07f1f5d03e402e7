#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "device/arena/arena_worker.hpp"
#include "device/cpu/cpu_device.hpp"
#include "device/cpu/guest_call.hpp"
#include "device/cpu/redirected_calls.hpp"
#include "sandbox/lockdown.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf {
namespace {

constexpr const char* kEntry = "kerf_kernel";

// One caller per number of arguments: all are pointers, and the kernel's own types do not matter to the calling
// convention. Beyond kExactArguments (networks have a buffer for every weight and every step between) one per power of
// two: arguments that a function does not have lie behind its own, where the caller puts them and takes them away
// again.
template <std::size_t>
using Pointer = void*;
template <std::size_t... index>
void call_with(void* function, void* const* arguments, std::index_sequence<index...>) {
  reinterpret_cast<void (*)(Pointer<index>...)>(function)(arguments[index]...);
}
using Caller = void (*)(void*, void* const*);
template <std::size_t count>
void call(void* function, void* const* arguments) {
  call_with(function, arguments, std::make_index_sequence<count>());
}
template <std::size_t... count>
constexpr std::array<Caller, sizeof...(count)> make_callers(std::index_sequence<count...>) {
  return {call<count>...};
}
constexpr std::size_t kExactArguments = 32, kMaxArguments = 2048;
constexpr auto kCallers = make_callers(std::make_index_sequence<kExactArguments + 1>());

template <std::size_t count>
cpu::EntryPoint large_caller(std::size_t wanted) {
  if constexpr (count < kMaxArguments)
    if (wanted > count) return large_caller<2 * count>(wanted);
  return {nullptr, call<count>, count, wanted};
}

/// Where the loader put a library.
struct Segments {
  ElfW(Addr) base = 0;
  std::vector<std::pair<char*, char*>> code, writable;
};

int collect_segments(dl_phdr_info* info, std::size_t, void* into) {
  auto& segments = *static_cast<Segments*>(into);
  if (info->dlpi_addr != segments.base) return 0;
  const auto page = static_cast<ElfW(Addr)>(::sysconf(_SC_PAGESIZE));
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const ElfW(Addr) begin = (segments.base + header.p_vaddr) / page * page;
    const ElfW(Addr) end = (segments.base + header.p_vaddr + header.p_memsz + page - 1) / page * page;
    auto& list = (header.p_flags & PF_W) != 0 ? segments.writable : segments.code;
    list.emplace_back(reinterpret_cast<char*>(begin), reinterpret_cast<char*>(end));
  }
  return 1;
}

Result<Segments> segments_of(void* library) {
  link_map* map = nullptr;
  if (::dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
    return fail(Errc::io, fmt::format("the kernel cannot be sealed: {}", ::dlerror()));
  Segments segments;
  segments.base = map->l_addr;
  if (::dl_iterate_phdr(collect_segments, &segments) != 1)
    return fail(Errc::io, "the kernel cannot be sealed: no segments");
  return segments;
}

// A kernel's memory is its arguments, its stack and its heap. What it brought along, variables as well as the tables
// between them, becomes read-only, so that nothing can be remembered there from call to call.
Status make_read_only(const Segments& segments) {
  for (const auto& [begin, end] : segments.writable) {
    if (::mprotect(begin, static_cast<std::size_t>(end - begin), PROT_READ) != 0)
      return fail(Errc::io, fmt::format("the kernel cannot be sealed: {}", std::strerror(errno)));
  }
  return {};
}

class CpuKernel final : public arena::Kernel {
 public:
  // What kernels need, loaded ahead so that loading the kernel itself is short. A library that is missing here is
  // reported by the kernel that needs it.
  Status start() override {
    for (const char* library : {"libm.so.6", "libmvec.so.1", "libgcc_s.so.1", "libstdc++.so.6", "libgomp.so.1"})
      ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
    return {};
  }

  Status load(const arena::Program& program) override {
    if (!program.launches.empty()) return fail(Errc::invalid_input, "C++ kernels have an entry point and no launches");
    const std::size_t count = program.scratch.size() + (program.slots.empty() ? 0 : program.slots.front().size());
    if (count > kMaxArguments)
      return fail(Errc::invalid_input, fmt::format("a kernel has at most {} buffers", kMaxArguments));
    for (std::size_t slot = 0; slot < program.slots.size(); ++slot) {
      arguments_.emplace_back();
      for (std::size_t i = 0; i < count; ++i)
        arguments_.back().push_back(program.argument(static_cast<int>(slot), static_cast<int>(i)).data);
    }
    entry_ = count <= kExactArguments ? cpu::EntryPoint{nullptr, kCallers[count], count, count}
                                      : large_caller<2 * kExactArguments>(count);
    for (auto& arguments : arguments_) arguments.resize(entry_.passed);
    KERF_TRY(cpu::TwoStacks stacks, cpu::TwoStacks::make(SandboxLimits{}.stack_bytes));
    stacks_.emplace(std::move(stacks));
    program_ = &program;
    hide_surroundings(program.surroundings);
    // Code could run inside dlopen, so the first filter comes before it.
    Status loading = lock_down({LockdownPolicy::Stage::loading, arena::note_forbidden, {}, {}});
    // Without seccomp in the kernel the other walls remain; `sandbox_abilities` has told the user. Every other failure
    // ends the worker.
    const bool filtered = loading.has_value();
    if (!loading && loading.error().code != Errc::unavailable) return loading;
    void* library = ::dlopen(fmt::format("/proc/self/fd/{}", program.artifact_fd).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      return fail(Errc::invalid_input, fmt::format("the kernel cannot be loaded: {}", ::dlerror()));
    entry_.function = ::dlsym(library, kEntry);
    if (entry_.function == nullptr)
      return fail(Errc::invalid_input, fmt::format("the kernel has no function {}", kEntry));
    find_openmp();
    openmp_.emplace();
    threads_ = openmp_->threads();
    caller_state_ = cpu::CallerState::read(*openmp_);
    KERF_TRY(const Segments segments, segments_of(library));
    redirected_ = redirect_calls(library);
    KERF_TRY_VOID(make_read_only(segments));
    if (!filtered) return {};
    // The candidate's own code makes no system calls.
    LockdownPolicy computing{LockdownPolicy::Stage::computing, arena::note_forbidden, {}, {}};
    for (const auto& [begin, end] : segments.code) computing.fenced.emplace_back(begin, end);
    return lock_down(computing);
  }

  Result<double> run(std::span<const int> slots) override {
    for (const int slot : slots) {
      stacks_->call({&entry_, arguments_[static_cast<std::size_t>(slot)].data()});
      for (const auto level : openmp_levels_) {
        if (level() != 0) return fail(Errc::invalid_input, "the kernel left a parallel region whose threads still run");
      }
    }
    return 0;
  }

  // Nothing is allocated between ordinary calls: what a kernel left in memory that it gave back stays there, as in a
  // program that calls it in a loop.
  Status run_as(int slot, const CallManner& manner) override {
    if (manner.threads > 0) openmp_->set_threads(manner.threads);
    const Status called = manner.guest == CallManner::Guest::none ? run(std::span(&slot, 1)).transform([](double) {})
                                                                  : run_as_guest(slot, manner);
    if (manner.threads > 0) openmp_->set_threads(threads_);
    return called;
  }

 private:
  Status run_as_guest(int slot, const CallManner& manner) {
    cpu::CallerState before = caller_state_;
    if (manner.threads > 0) before.openmp = openmp_->read();
    return cpu::call_as_guest({entry_, *program_, redirected_, *openmp_}, slot, manner, before);
  }

  // The kernel's OpenMP, whichever compiler it came from, tells whether a parallel region is still open.
  void find_openmp() {
    for (const char* name : {"libgomp.so.1", "libomp.so.5", "libomp.so"}) {
      void* library = ::dlopen(name, RTLD_NOW | RTLD_NOLOAD);
      if (library == nullptr) continue;
      if (void* level = ::dlsym(library, "omp_get_level")) openmp_levels_.push_back(reinterpret_cast<int (*)()>(level));
    }
  }

  cpu::EntryPoint entry_;
  std::optional<cpu::TwoStacks> stacks_;  // made before the filters that come with a kernel
  const arena::Program* program_ = nullptr;
  std::optional<cpu::OpenmpSettings> openmp_;
  Redirected redirected_;
  int threads_ = 0;  // of OpenMP, as the process began with
  cpu::CallerState caller_state_;
  std::vector<std::vector<void*>> arguments_;  // [slot]
  std::vector<int (*)()> openmp_levels_;       // omp_get_level of each loaded OpenMP
};

}  // namespace

int cpu_worker_main(std::span<const std::string>) {
  CpuKernel kernel;
  return arena::serve(kernel);
}

}  // namespace kerf
