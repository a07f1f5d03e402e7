#include "store/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kerf::store {

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder) {
  const auto path = folder / kLockFile;
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return fail(Errc::io, fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
  FolderLock lock(fd);
  int code = 0;
  do code = ::flock(fd, LOCK_EX | LOCK_NB);
  while (code != 0 && errno == EINTR);
  if (code != 0 && errno == EWOULDBLOCK) {
    const auto holder = read_file(path);
    const std::string who(holder ? trim(*holder) : "");
    return fail(Errc::invalid_input,
                fmt::format("the run in {} is being written by {}; wait until it ends, stop it, or use another folder",
                            folder.string(), who.empty() ? "another process" : "process " + who));
  }
  if (code != 0) return fail(Errc::io, fmt::format("cannot lock {}: {}", path.string(), std::strerror(errno)));
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()))
    return fail(Errc::io, fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace kerf::store
