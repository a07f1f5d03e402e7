// What a process can see of when and where it runs, without a system call.

#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <elf.h>
#include <cstdint>
#include <cstring>
#include <sstream>
#include <utility>
#include <vector>

#include "base/file.hpp"
#include "base/text.hpp"
#include "sandbox/lockdown.hpp"

namespace kerf {
namespace {

// Runtimes of sanitizers read clocks of their own accord.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

using Range = std::pair<std::uint64_t, std::uint64_t>;

/// "7ffd0000-7ffd2000 r-xp ... [vdso]"
std::optional<Range> range_of(const std::string& line) {
  std::istringstream text(line);
  Range range;
  char dash = 0;
  if (!(text >> std::hex >> range.first >> dash >> range.second) || dash != '-') return std::nullopt;
  return range;
}

/// Fields 48 to 51 of /proc/PID/stat: where arguments and environment begin and end.
std::vector<Range> words_of(int pid) {
  const std::string stat = read_file(fmt::format("/proc/{}/stat", pid)).value_or("");
  std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string skipped;
  for (int field = 3; field < 48; ++field) fields >> skipped;
  Range arguments, environment;
  if (!(fields >> arguments.first >> arguments.second >> environment.first >> environment.second)) return {};
  if (arguments.second <= arguments.first || environment.second <= environment.first) return {};
  return {arguments, environment};
}

/// The kernel's words to the process, which follow the environment's pointers: the clock page and the program's name.
void empty_auxiliary_vector() {
  char** end = environ;
  if (end == nullptr) return;
  while (*end != nullptr) ++end;
  for (auto* entry = reinterpret_cast<Elf64_auxv_t*>(end + 1); entry->a_type != AT_NULL; ++entry) {
    if (entry->a_type == AT_EXECFN) {
      auto* name = reinterpret_cast<char*>(entry->a_un.a_val);
      std::memset(name, 0, std::strlen(name));
    }
    if (entry->a_type == AT_SYSINFO_EHDR) entry->a_type = AT_IGNORE;
  }
}

}  // namespace

Surroundings surroundings_of(int pid) {
  Surroundings found;
  // A process that is still being started has no words yet; the kernel writes them last.
  for (int attempt = 0; attempt < 20 && found.words.empty(); ++attempt) {
    if (attempt > 0) ::usleep(200);
    found.words = words_of(pid);
  }
  // The page with the code that reads the clock stays: the loader looks at it. Without its data it crashes.
  for (const auto& line : split(read_file(fmt::format("/proc/{}/maps", pid)).value_or(""), '\n')) {
    if (line.find("[vvar") == std::string::npos) continue;
    if (const auto range = range_of(line)) found.clock_pages.push_back(*range);
  }
  return found;
}

void hide_surroundings(const Surroundings& surroundings) {
  if (!kSanitized) {
    if (!surroundings.clock_pages.empty()) empty_auxiliary_vector();
    for (const auto& [begin, end] : surroundings.clock_pages) ::munmap(reinterpret_cast<void*>(begin), end - begin);
  }
  for (const auto& [begin, end] : surroundings.words) std::memset(reinterpret_cast<void*>(begin), 0, end - begin);
#if defined(__x86_64__)
  ::prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
#endif
}

}  // namespace kerf
