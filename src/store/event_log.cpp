#include "store/event_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.hpp"

namespace kerf::store {
namespace {

Status write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(Errc::io, fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

/// How much of `found` can stay: all of it, or its whole lines; nothing when even those differ from what is expected.
std::size_t usable(std::string_view found, std::string_view expected) {
  if (expected.starts_with(found)) return found.size();
  const auto end = found.rfind('\n');
  const auto lines = found.substr(0, end == std::string_view::npos ? 0 : end + 1);
  return expected.starts_with(lines) ? lines.size() : std::string_view::npos;
}

}  // namespace

Result<EventLog> EventLog::open(const std::filesystem::path& path, std::string_view expected) {
  std::string found;
  std::error_code error;
  if (std::filesystem::exists(path, error)) {
    KERF_TRY(found, read_file(path));
  }
  std::size_t keep = usable(found, expected);
  if (keep == std::string_view::npos) {
    std::filesystem::rename(path, path.string() + ".damaged", error);
    if (error) return fail(Errc::io, fmt::format("cannot set {} aside: {}", path.string(), error.message()));
    keep = 0;
  }
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) return fail(Errc::io, fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
  EventLog log(path, fd);
  if (::ftruncate(fd, static_cast<off_t>(keep)) != 0)
    return fail(Errc::io, fmt::format("cannot repair {}: {}", path.string(), std::strerror(errno)));
  KERF_TRY_VOID(write_all(fd, expected.substr(keep), path));
  return log;
}

EventLog::EventLog(EventLog&& other) noexcept : path_(std::move(other.path_)), fd_(std::exchange(other.fd_, -1)) {}

EventLog::~EventLog() {
  if (fd_ >= 0) ::close(fd_);
}

Status EventLog::append(std::string_view line) {
  const off_t before = ::lseek(fd_, 0, SEEK_END);
  auto written = write_all(fd_, std::string(line) + "\n", path_);
  // On a full disk: half a line must not run into the next one.
  if (!written && before >= 0 && ::ftruncate(fd_, before) != 0)
    return fail(Errc::io, fmt::format("{}; its last line is torn", written.error().message));
  return written;
}

}  // namespace kerf::store
