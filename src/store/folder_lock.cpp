#include "store/folder_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kerf::store {
namespace {

constexpr int kAttempts = 300;  // of 10 ms each

/// Whether the process that wrote its number into the lock file is gone.
bool owner_is_dead(const std::filesystem::path& path) {
  const auto text = read_file(path);
  const int pid = text ? std::atoi(text->c_str()) : 0;
  return pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH;
}

/// Whether `path` is the file that is open as `fd`.
bool is_at(const std::filesystem::path& path, int fd) {
  struct stat there{}, open{};
  return ::stat(path.c_str(), &there) == 0 && ::fstat(fd, &open) == 0 && there.st_dev == open.st_dev &&
         there.st_ino == open.st_ino;
}

}  // namespace

Result<FolderLock> FolderLock::take(const std::filesystem::path& folder) {
  const auto path = folder / kLockFile;
  int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  const bool made_here = fd >= 0;
  if (!made_here && errno == EEXIST) fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (fd < 0) return fail(Errc::io, fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
  FolderLock lock(fd);
  int code = 0, why = 0;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    do code = ::flock(fd, LOCK_EX | LOCK_NB);
    while (code != 0 && errno == EINTR);
    why = errno;
    if (code == 0 || why != EWOULDBLOCK || !owner_is_dead(path)) break;
    // Its last children, forked but not yet started, still hold the file for a moment.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (code != 0 && why == EWOULDBLOCK) {
    const auto holder = read_file(path);
    const std::string who(holder ? trim(*holder) : "");
    return fail(Errc::invalid_input,
                fmt::format("the run in {} is being written by {}; wait until it ends, stop it, or use another folder",
                            folder.string(), who.empty() ? "another process" : "process " + who));
  }
  if (code != 0) return fail(Errc::io, fmt::format("cannot lock {}: {}", path.string(), std::strerror(why)));
  // Whoever made the file and could not write it has removed it meanwhile.
  if (!is_at(path, fd)) return take(folder);
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd, 0) != 0 || ::pwrite(fd, pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size())) {
    const int reason = errno;
    if (made_here) ::unlink(path.c_str());
    return fail(Errc::io, fmt::format("cannot write {}: {}; free some space there, or choose another folder",
                                      path.string(), std::strerror(reason)));
  }
  return lock;
}

FolderLock::FolderLock(FolderLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

FolderLock::~FolderLock() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace kerf::store
