#pragma once
// CUDA C++ for the fake driver: g++ with kernel_shim.hpp. Test only.

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "codegen/dialects/dialects.hpp"
#include "language/language.hpp"

namespace kerf {

class FakeCudaLanguage final : public Language {
 public:
  explicit FakeCudaLanguage(std::filesystem::path shim) : shim_(std::move(shim)) {
    std::string name = (std::filesystem::temp_directory_path() / "kerf-fake-cuda-XXXXXX").string();
    if (::mkdtemp(name.data())) folder_ = name;
  }
  ~FakeCudaLanguage() override {
    std::error_code error;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
  }

  std::string_view name() const override { return "cuda_cpp"; }
  std::string version() const override { return "g++ with " + sha256_hex(read_file(shim_).value_or("")); }
  const codegen::DialectTraits& dialect() const override { return codegen::dialects::cuda_cpp; }
  std::vector<CalibrationKernel> calibration_kernels(const std::string&) const override { return {}; }

  Result<CompileOutcome> compile(const CompileRequest& request) override {
    std::string source = fmt::format("#include \"{}\"\n", shim_.string());
    for (const auto& [name, value] : request.constants) source += fmt::format("constexpr int {} = {};\n", name, value);
    const auto base = folder_ / fmt::format("k{}", ++count_);
    KERF_TRY_VOID(write_file_atomic(base.string() + ".cpp", source + request.source));
    const auto command = fmt::format("g++ -std=c++17 -O1 -w -shared -fPIC {0}.cpp -o {0}.so 2> {0}.log", base.string());
    if (std::system(command.c_str()) != 0) {
      KERF_TRY(auto log, read_file(base.string() + ".log"));
      return CompileFailed{std::move(log)};
    }
    Artifact artifact;
    artifact.language = "cuda_cpp";
    KERF_TRY(artifact.bytes, read_file(base.string() + ".so"));
    artifact.id = sha256_hex(artifact.bytes);
    return artifact;
  }

 private:
  std::filesystem::path shim_, folder_;
  int count_ = 0;
};

}  // namespace kerf
