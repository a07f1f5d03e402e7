#include "sandbox/landlock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace kerf {
namespace {

// From linux/landlock.h, spelled out because build machines often have an older header than the kernel they run on.
constexpr std::uint64_t kExecute = 1ULL << 0, kWriteFile = 1ULL << 1, kReadFile = 1ULL << 2, kReadDir = 1ULL << 3;
constexpr std::uint64_t kAllVersion1 = (1ULL << 13) - 1;
constexpr std::uint64_t kRefer = 1ULL << 13, kTruncate = 1ULL << 14, kIoctlDev = 1ULL << 15;
constexpr std::uint64_t kBindAndConnectTcp = 3;
constexpr std::uint64_t kScopeSocketsAndSignals = 3;
constexpr int kRulePathBeneath = 1;
constexpr unsigned kVersionFlag = 1;

struct RulesetAttributes {
  std::uint64_t handled_access_fs, handled_access_net, scoped;
};
struct PathBeneath {
  std::uint64_t allowed_access;
  std::int32_t parent_fd;
} __attribute__((packed));

std::uint64_t handled_rights(int version) {
  std::uint64_t rights = kAllVersion1;
  if (version >= 2) rights |= kRefer;
  if (version >= 3) rights |= kTruncate;
  if (version >= 5) rights |= kIoctlDev;
  return rights;
}

// Paths that do not exist are skipped: distributions differ in what they have.
Status allow(int ruleset, const std::filesystem::path& path, std::uint64_t rights) {
  const UniqueFd fd(::open(path.c_str(), O_PATH | O_CLOEXEC));
  if (!fd) return {};
  struct stat info{};
  if (::fstat(fd.number(), &info) != 0)
    return fail(Errc::io, fmt::format("stat {}: {}", path.string(), std::strerror(errno)));
  if (!S_ISDIR(info.st_mode)) rights &= kExecute | kWriteFile | kReadFile | kTruncate | kIoctlDev;
  const PathBeneath rule{rights, fd.number()};
  if (::syscall(SYS_landlock_add_rule, ruleset, kRulePathBeneath, &rule, 0) != 0)
    return fail(Errc::io, fmt::format("Landlock rule for {}: {}", path.string(), std::strerror(errno)));
  return {};
}

constexpr const char* kSystemPaths[] = {
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/bin",
    "/sbin",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
    "/nix/store",
    "/sys/devices/system/cpu",
    "/sys/devices/system/node",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/dev/zero",
    "/dev/urandom",
    "/dev/random",
};

}  // namespace

int landlock_version() {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, kVersionFlag);
  return version > 0 ? static_cast<int>(version) : 0;
}

Result<UniqueFd> make_landlock_ruleset(const FileRules& rules, int version) {
  const std::uint64_t handled = handled_rights(version);
  RulesetAttributes attributes{handled, 0, 0};
  std::size_t size = sizeof(std::uint64_t);
  if (version >= 4) {
    if (!rules.network) attributes.handled_access_net = kBindAndConnectTcp;
    size = 2 * sizeof(std::uint64_t);
  }
  if (version >= 6) {
    attributes.scoped = kScopeSocketsAndSignals;
    size = 3 * sizeof(std::uint64_t);
  }
  UniqueFd ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, size, 0)));
  if (!ruleset) return fail(Errc::unavailable, fmt::format("Landlock ruleset: {}", std::strerror(errno)));

  const std::uint64_t read = kExecute | kReadFile | kReadDir;
  for (const char* path : kSystemPaths) {
    KERF_TRY_VOID(allow(ruleset.number(), path, read));
  }
  KERF_TRY_VOID(allow(ruleset.number(), "/dev/null", handled & (kReadFile | kWriteFile | kTruncate)));
  for (const auto& path : rules.readable) {
    KERF_TRY_VOID(allow(ruleset.number(), path, read));
  }
  for (const auto& path : rules.writable) {
    KERF_TRY_VOID(allow(ruleset.number(), path, handled & ~(kExecute | kIoctlDev)));
  }
  return ruleset;
}

}  // namespace kerf
