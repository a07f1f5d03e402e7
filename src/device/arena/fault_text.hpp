#pragma once
// How a worker ended, in words.

#include <cstdint>
#include <string>

#include "device/device.hpp"

namespace kerf::arena {

struct WorkerEnd {
  int exit_code = 0;
  int signal = 0;           ///< that ended the process; 0: it exited
  int reported_signal = 0;  ///< that the worker's own handler saw; not trusted beyond the message
  bool stack_overflow = false;
  bool in_arena = false;  ///< the address lies between buffers
  std::uint64_t address = 0;
  int forbidden_call = -1;  ///< system call the sandbox refused
  std::string words;        ///< what it left on standard error
};

Fault explain(const WorkerEnd& end);

}  // namespace kerf::arena
