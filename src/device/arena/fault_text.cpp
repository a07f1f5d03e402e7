#include "device/arena/fault_text.hpp"

#include <fmt/format.h>
#include <signal.h>

#include "device/arena/protocol.hpp"
#include "sandbox/lockdown.hpp"

namespace kerf::arena {
namespace {

std::string signal_text(const WorkerEnd& end, int number) {
  switch (number) {
    case SIGSEGV:
    case SIGBUS: {
      const char* name = number == SIGSEGV ? "SIGSEGV" : "SIGBUS";
      if (end.stack_overflow) return fmt::format("{}: stack overflow", name);
      if (end.in_arena) return fmt::format("{}: illegal memory access far outside a buffer", name);
      if (end.address != 0 && end.address < 65536)
        return fmt::format("{}: illegal memory access through a null pointer", name);
      return fmt::format("{}: illegal memory access", name);
    }
    case SIGFPE: return "SIGFPE: integer division by zero or overflow";
    case SIGILL: return "SIGILL: illegal instruction";
    case SIGTRAP: return "SIGTRAP: trap instruction";
    case SIGABRT: return "SIGABRT: aborted (out of memory, uncaught exception, or a corrupted heap)";
    case SIGKILL: return "SIGKILL: killed by the system, probably out of memory";
    case SIGXCPU: return "SIGXCPU: processor time limit";
    case SIGSYS: return "SIGSYS: forbidden system call";
    default: return fmt::format("signal {}", number);
  }
}

}  // namespace

Fault explain(const WorkerEnd& end) {
  if ((end.signal == 0 && end.exit_code == kForbiddenExit) || end.signal == SIGSYS) {
    if (end.forbidden_call < 0) return {Fault::Kind::forbidden, "the kernel made a forbidden system call"};
    return {Fault::Kind::forbidden, fmt::format("the kernel called {}", system_call_name(end.forbidden_call))};
  }
  std::string text;
  if (end.signal == 0 && end.exit_code == kCrashExit && end.reported_signal != 0) {
    text = signal_text(end, end.reported_signal);
  } else if (end.signal != 0) {
    text = signal_text(end, end.signal);
  } else {
    text = fmt::format("the kernel ended its process (exit status {})", end.exit_code);
  }
  if (!end.words.empty()) text += "\n" + end.words.substr(0, 400);
  return {Fault::Kind::crashed, text};
}

}  // namespace kerf::arena
