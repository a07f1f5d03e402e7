#pragma once
// A call of a kernel as a caller makes it who promises nothing but docs/formats.md, and what the kernel may not leave
// changed behind it. Runs in the worker, where the kernel does.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "device/arena/arena_worker.hpp"
#include "device/cpu/call_stack.hpp"
#include "device/cpu/redirected_calls.hpp"

namespace kerf::cpu {

/// The OpenMP libraries of this process and what a kernel could change in them.
class OpenmpSettings {
 public:
  OpenmpSettings();          ///< of the libraries that are loaded
  std::string read() const;  ///< every setting, as text to compare
  void set_threads(int threads) const;
  int threads() const;  ///< of the first library; 1 without one

  /// Runs `work` in every thread of a parallel region of so many (0: as is usual), with the thread's number. False
  /// where no library offers it; then nothing was run.
  bool in_region(int threads, const std::function<void(int)>& work) const;

 private:
  std::vector<void*> libraries_;
};

/// What belongs to the caller in the processor. Sticky exception flags do not: arithmetic sets them.
struct ProcessorState {
  std::uint32_t vector_control = 0;  ///< rounding, flushing of denormals, masked exceptions
  std::uint16_t x87_control = 0, x87_tags = 0;
  std::uint64_t segments = 0;  ///< selectors of DS, ES, FS and GS

  static ProcessorState read();
};

/// The process before it ran any code of the kernel: ordinary calls come before those of a guest.
struct CallerState {
  ProcessorState processor;
  std::string openmp, locale;

  static CallerState read(const OpenmpSettings& openmp);
};

/// The kernel and what is known about it.
struct GuestKernel {
  const EntryPoint& entry;
  const arena::Program& program;
  const Redirected& redirected;
  const OpenmpSettings& openmp;
};

/// Calls the kernel on copies of the slot's buffers, which lie as `guest` says, and copies the outputs back. An error
/// says what the kernel did to its caller: changed state of the processor or of OpenMP, registers that belong to the
/// caller, memory beside the buffers, memory that was not given back. A kernel that touches what it may not ends the
/// process by a signal.
/// Around the call the process is as programs may be that have done other work before: stacks and new blocks of the
/// heap are full of what is no number, the caller may flush denormals and may be inside of a parallel region
/// (device.hpp).
Status call_as_guest(const GuestKernel& kernel, int slot, const CallManner& manner, const CallerState& before);

}  // namespace kerf::cpu
