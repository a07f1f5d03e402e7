#pragma once
// CUDA C++ through NVRTC in a pool of compiler processes (`kerf worker nvrtc`), or through `nvcc -cubin` where no NVRTC
// is found. libnvrtc is opened at run time and only in those processes. Artifacts are cubins; no GPU is needed to make
// them.

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "language/language.hpp"
#include "sandbox/sandbox.hpp"

namespace kerf {

/// Where to look for NVIDIA's compiler and headers.
struct CudaToolkitSearch {
  std::vector<std::string> folders;  ///< what the user says, first: toolkits, wheel folders, library folders
  std::map<std::string, std::string>
      environment;  ///< CUDA_HOME, CUDA_PATH, VIRTUAL_ENV, LD_LIBRARY_PATH, PATH are used
};

/// What was found; empty paths where nothing was.
struct CudaToolkit {
  std::filesystem::path nvrtc;                  ///< libnvrtc.so.N
  std::filesystem::path builtins;               ///< libnvrtc-builtins.so.N.M beside it
  std::vector<std::filesystem::path> includes;  ///< cuda_fp16.h, mma.h, ...; may be empty
  std::filesystem::path nvcc;
  std::vector<std::string> looked;  ///< folders that were looked into, for messages
};
CudaToolkit find_cuda_toolkit(const CudaToolkitSearch& search);

struct CudaLanguageOptions {
  std::filesystem::path self;  ///< binary that understands `worker nvrtc`
  CudaToolkitSearch search;
  Sandbox* sandbox = nullptr;             ///< compilers run in it; null: plain processes (nvcc needs one)
  int processes = 0;                      ///< most compiler processes at once; 0: one per core
  std::int64_t memory_bytes = 6LL << 30;  ///< address space of one compiler process
  bool prefer_nvcc = false;               ///< use nvcc even when NVRTC is there
};

/// Unavailable, with where was looked and how to get it, when there is neither NVRTC nor nvcc.
Result<std::unique_ptr<Language>> make_cuda_language(const CudaLanguageOptions& options);

/// For `kerf doctor`: one line per tool, "" in `found` when it is missing.
struct CudaToolFinding {
  std::string what;  ///< "compiler", "headers", "nvcc"
  std::string found;
  std::string remedy;
};
std::vector<CudaToolFinding> diagnose_cuda_toolkit(const CudaToolkitSearch& search);

/// `kerf worker nvrtc ARGS...`. Exit code of the process.
int nvrtc_worker_main(std::span<const std::string> args);

}  // namespace kerf
