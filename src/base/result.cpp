#include "base/result.hpp"

#include <cstdio>
#include <cstdlib>

namespace kerf {

const char* errc_name(Errc code) {
  switch (code) {
    case Errc::invalid_input: return "invalid_input";
    case Errc::not_found: return "not_found";
    case Errc::io: return "io";
    case Errc::tool_failed: return "tool_failed";
    case Errc::timeout: return "timeout";
    case Errc::unavailable: return "unavailable";
    case Errc::cancelled: return "cancelled";
  }
  return "unknown";
}

void check_failed(const char* condition, const char* why, const char* file, int line) {
  std::fprintf(stderr, "kerf: internal error: %s (%s) at %s:%d\n", why, condition, file, line);
  std::abort();
}

}  // namespace kerf
