#pragma once
// The compiler that was found, its flags and its precompiled header.

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "language/cpp/cpp_language.hpp"
#include "language/cpp/kernel_flags.hpp"

namespace kerf::cpp {

/// A fresh empty folder, in memory where the machine has such a file system; removed with its owner.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

struct Compiler {
  std::filesystem::path path;
  bool clang = false;
  std::string version;                          ///< "g++ 12.2.0"
  std::vector<std::string> flags;               ///< for kernels, the same for the precompiled header
  std::vector<std::string> header_flags;        ///< make a compile use the precompiled header
  std::vector<std::filesystem::path> readable;  ///< folders a compile reads beside the system's
  /// Holds the precompiled header when the cache folder cannot be written; removed with the last copy of the compiler.
  std::shared_ptr<const ScratchFolder> own_folder;
};

Result<Compiler> find_compiler(const CppLanguageOptions& options);

/// A command of this compiler in `folder`, where alone it may write; limits for `milliseconds`.
SandboxCommand compiler_command(const Compiler& compiler, const std::filesystem::path& folder,
                                std::vector<std::string> arguments, std::chrono::milliseconds limit);

}  // namespace kerf::cpp
