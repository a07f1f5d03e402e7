#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <utility>
#include <vector>

#include "device/arena/arena_worker.hpp"
#include "device/cpu/cpu_device.hpp"
#include "sandbox/lockdown.hpp"

namespace kerf {
namespace {

constexpr std::size_t kMaxArguments = 32;
constexpr const char* kEntry = "kerf_kernel";

// One caller per number of arguments: all are pointers, and the kernel's own types do not matter to the calling
// convention.
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
constexpr auto kCallers = make_callers(std::make_index_sequence<kMaxArguments + 1>());

// Without seccomp the other walls remain; `sandbox_abilities` has told the user.
Status lock(LockdownPolicy::Stage stage) {
  const Status locked = lock_down({stage, arena::note_forbidden, {}});
  if (!locked && locked.error().code != Errc::unavailable) return locked;
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
    caller_ = kCallers[count];
    // Constructors run inside dlopen, so the first filter comes before it.
    KERF_TRY_VOID(lock(LockdownPolicy::Stage::loading));
    void* library = ::dlopen(fmt::format("/proc/self/fd/{}", program.artifact_fd).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr)
      return fail(Errc::invalid_input, fmt::format("the kernel cannot be loaded: {}", ::dlerror()));
    function_ = ::dlsym(library, kEntry);
    if (function_ == nullptr) return fail(Errc::invalid_input, fmt::format("the kernel has no function {}", kEntry));
    return lock(LockdownPolicy::Stage::computing);
  }

  Result<double> run(std::span<const int> slots) override {
    for (const int slot : slots) caller_(function_, arguments_[static_cast<std::size_t>(slot)].data());
    return 0;
  }

 private:
  void* function_ = nullptr;
  Caller caller_ = nullptr;
  std::vector<std::vector<void*>> arguments_;  // [slot]
};

}  // namespace

int cpu_worker_main(std::span<const std::string>) {
  CpuKernel kernel;
  return arena::serve(kernel);
}

}  // namespace kerf
