#include "device/arena/shared_memory.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace kerf::arena {
namespace {

Error system_error(const char* what) {
  return {errno == ENOMEM ? Errc::unavailable : Errc::io,
          fmt::format("shared memory: {}: {}", what, std::strerror(errno))};
}

// Code is loaded from it, so it asks to be executable; kernels before 6.3 do not know the flag and need none.
UniqueFd make_memfd(const char* name) {
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const int fd = ::memfd_create(name, flags | MFD_EXEC);
  return UniqueFd(fd >= 0 || errno != EINVAL ? fd : ::memfd_create(name, flags));
}

}  // namespace

SharedMemory::SharedMemory(SharedMemory&& other) noexcept
    : fd_(std::move(other.fd_)), data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

SharedMemory& SharedMemory::operator=(SharedMemory&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedMemory::~SharedMemory() {
  if (data_ != nullptr) ::munmap(data_, static_cast<std::size_t>(bytes_));
}

Result<SharedMemory> SharedMemory::make(std::int64_t bytes) {
  UniqueFd fd = make_memfd("kerf-arena");
  if (!fd || ::ftruncate(fd.number(), bytes) != 0) return tl::unexpected<Error>(system_error("make"));
  if (::fcntl(fd.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return tl::unexpected<Error>(system_error("seal"));
  return open(std::move(fd), true);
}

Result<UniqueFd> SharedMemory::make_read_only(std::string_view bytes) {
  UniqueFd fd = make_memfd("kerf-artifact");
  if (!fd) return tl::unexpected<Error>(system_error("make"));
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::write(fd.number(), bytes.data() + done, bytes.size() - done);
    if (count <= 0) return tl::unexpected<Error>(system_error("write"));
    done += static_cast<std::size_t>(count);
  }
  if (::fcntl(fd.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0)
    return tl::unexpected<Error>(system_error("seal"));
  return fd;
}

Result<SharedMemory> SharedMemory::open(UniqueFd fd, bool writable) {
  struct stat info{};
  if (::fstat(fd.number(), &info) != 0) return tl::unexpected<Error>(system_error("size"));
  SharedMemory memory;
  if (info.st_size > 0) {
    void* data = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ | (writable ? PROT_WRITE : 0),
                        MAP_SHARED, fd.number(), 0);
    if (data == MAP_FAILED) return tl::unexpected<Error>(system_error("map"));
    memory.data_ = static_cast<std::byte*>(data);
  }
  memory.bytes_ = info.st_size;
  memory.fd_ = std::move(fd);
  return memory;
}

void SharedMemory::release(std::int64_t offset, std::int64_t bytes) {
  ::fallocate(fd_.number(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes);
}

void SharedMemory::keep_mapped_forever() {
  data_ = nullptr;
  fd_.reset();
}

}  // namespace kerf::arena
