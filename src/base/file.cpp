#include "base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace kerf {

Result<std::string> read_file(const std::filesystem::path& path) {
  std::error_code ec;
  if (std::filesystem::is_directory(path, ec))
    return fail(Errc::invalid_input, path.string() + " is a folder, not a file");
  // A pipe may never end, and reading it cannot be interrupted.
  if (std::filesystem::exists(path, ec) && !std::filesystem::is_regular_file(path, ec))
    return fail(Errc::invalid_input, path.string() + " is a pipe or a device, not a plain file");
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(Errc::not_found, "cannot open " + path.string() + ": " + std::strerror(errno));
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) return fail(Errc::io, "cannot read " + path.string());
  return std::move(text).str();
}

namespace {

Status write_all(int fd, std::string_view bytes, const std::filesystem::path& path) {
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + written, bytes.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail(Errc::io, "cannot write " + path.string() + ": " + std::strerror(errno));
    written += static_cast<std::size_t>(n);
  }
  return {};
}

Status write_in_place(const std::filesystem::path& path, std::string_view bytes) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (fd < 0) return fail(Errc::io, "cannot write " + path.string() + ": " + std::strerror(errno));
  const Status written = write_all(fd, bytes, path);
  ::close(fd);
  return written;
}

}  // namespace

Status write_file_atomic(const std::filesystem::path& path, std::string_view bytes) {
  std::error_code ec;
  if (const auto kind = std::filesystem::status(path, ec).type();
      kind == std::filesystem::file_type::character || kind == std::filesystem::file_type::fifo)
    return write_in_place(path, bytes);
  ec.clear();
  if (path.has_parent_path() && !std::filesystem::create_directories(path.parent_path(), ec) && ec)
    return fail(Errc::io, "cannot create the folder " + path.parent_path().string() + ": " + ec.message());
  std::string temporary = path.string() + ".XXXXXX";
  const int fd = ::mkstemp(temporary.data());
  if (fd < 0) return fail(Errc::io, "cannot create a file beside " + path.string() + ": " + std::strerror(errno));
  const Status written = write_all(fd, bytes, path);
  ::fchmod(fd, 0644);
  ::close(fd);
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    ::unlink(temporary.c_str());
    return fail(Errc::io, "cannot rename to " + path.string() + ": " + why);
  }
  return {};
}

}  // namespace kerf
