#pragma once
// One writer per run folder.

#include <filesystem>

#include "base/result.hpp"

namespace kerf::store {

/// Holds `kerf.lock` in a folder until it goes out of scope or its process dies, however that happens. Programs started
/// by exec do not inherit it.
class FolderLock {
 public:
  /// Refused at once when another holds it; the error names that process.
  static Result<FolderLock> take(const std::filesystem::path& folder);
  FolderLock(FolderLock&& other) noexcept;
  FolderLock& operator=(FolderLock&&) = delete;
  ~FolderLock();

 private:
  explicit FolderLock(int fd) : fd_(fd) {}
  int fd_;
};

inline constexpr const char* kLockFile = "kerf.lock";

}  // namespace kerf::store
