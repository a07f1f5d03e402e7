// Finding NVRTC, its headers and nvcc.

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/text.hpp"
#include "language/cuda_cpp/cuda_language.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRemedy =
    "install the CUDA toolkit, or run tools/nvrtc_wheels.sh FOLDER and give that folder to kerf (--nvrtc FOLDER)";

std::vector<fs::path> children(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    found.push_back(it->path());
  std::sort(found.begin(), found.end());
  return found;
}

bool is_folder(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

/// Numbers after ".so." as a comparable list; empty when the name is not `stem`.so.N...
std::vector<int> so_version(const std::string& name, const std::string& stem) {
  const std::string prefix = stem + ".so.";
  if (!name.starts_with(prefix)) return {};
  std::vector<int> version;
  for (const auto& part : split(std::string_view(name).substr(prefix.size()), '.')) {
    int number = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (error != std::errc() || end != part.data() + part.size()) return {};
    version.push_back(number);
  }
  return version;
}

/// The newest `stem`.so.* of a folder; "" when there is none. libnvrtc.alt.so.* is a second copy and not meant.
fs::path newest(const fs::path& folder, const std::string& stem) {
  fs::path best;
  std::vector<int> best_version;
  for (const auto& path : children(folder)) {
    const auto version = so_version(path.filename().string(), stem);
    if (!version.empty() && version > best_version) {
      best = path;
      best_version = version;
    }
  }
  return best;
}

/// Folders below `root` where libraries may be: a toolkit's, a wheel folder's, or the folder itself.
std::vector<fs::path> library_folders(const fs::path& root) {
  std::vector<fs::path> folders{root, root / "lib64", root / "lib", root / "targets/x86_64-linux/lib"};
  for (const auto& package : children(root / "nvidia")) folders.push_back(package / "lib");
  return folders;
}

std::vector<fs::path> newest_first(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  for (const auto& path : children(folder)) {
    if (path.filename().string().starts_with(prefix)) found.push_back(path);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::string variable(const CudaToolkitSearch& search, const char* name) {
  const auto it = search.environment.find(name);
  return it == search.environment.end() ? std::string() : it->second;
}

/// Places in the order in which they are believed: the user's, the environment's, toolkits, wheels, the linker's paths.
std::vector<fs::path> roots(const CudaToolkitSearch& search) {
  std::vector<fs::path> list(search.folders.begin(), search.folders.end());
  for (const auto* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const auto value = variable(search, name); !value.empty()) list.emplace_back(value);
  }
  list.emplace_back("/usr/local/cuda");
  for (auto& path : newest_first("/usr/local", "cuda-")) list.push_back(std::move(path));
  list.emplace_back("/opt/cuda");
  std::vector<fs::path> pythons{"/usr/local/lib", "/usr/lib"};
  if (const auto env = variable(search, "VIRTUAL_ENV"); !env.empty())
    pythons.insert(pythons.begin(), fs::path(env) / "lib");
  for (const auto& folder : pythons) {
    for (const auto& python : newest_first(folder, "python3")) {
      list.push_back(python / "site-packages");
      list.push_back(python / "dist-packages");
    }
  }
  for (const auto& path : split(variable(search, "LD_LIBRARY_PATH"), ':')) {
    if (!path.empty()) list.emplace_back(path);
  }
  for (const auto* path : {"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib"}) list.emplace_back(path);
  return list;
}

/// Header folders that belong to the library folder: the toolkit's own, or those of the sibling wheels.
std::vector<fs::path> include_folders(const fs::path& library_folder) {
  std::vector<fs::path> found;
  const auto add = [&](const fs::path& folder) {
    std::error_code error;
    const fs::path real = fs::canonical(folder, error);
    if (!error && std::find(found.begin(), found.end(), real) == found.end()) found.push_back(real);
  };
  const fs::path above = library_folder.parent_path();
  std::vector<fs::path> candidates{above / "include", above.parent_path() / "include"};
  if (above.parent_path().filename() == "nvidia") {
    for (const auto& package : children(above.parent_path())) candidates.push_back(package / "include");
  }
  std::error_code error;
  for (const auto& folder : candidates) {
    const bool cuda = fs::exists(folder / "cuda_fp16.h", error) || fs::exists(folder / "crt/mma.h", error) ||
                      fs::exists(folder / "nv/target", error);
    if (cuda) add(folder);
    if (cuda && is_folder(folder / "cccl")) add(folder / "cccl");
  }
  return found;
}

fs::path find_nvcc(const CudaToolkitSearch& search, const std::vector<fs::path>& places) {
  std::error_code error;
  std::vector<fs::path> candidates;
  for (const auto& root : places) {
    candidates.push_back(root / "bin/nvcc");
    for (const auto& package : children(root / "nvidia")) candidates.push_back(package / "bin/nvcc");
  }
  for (const auto& folder : split(variable(search, "PATH"), ':')) {
    if (!folder.empty()) candidates.push_back(fs::path(folder) / "nvcc");
  }
  for (const auto& path : candidates) {
    if (fs::exists(path, error)) return path;
  }
  return {};
}

}  // namespace

CudaToolkit find_cuda_toolkit(const CudaToolkitSearch& search) {
  CudaToolkit toolkit;
  const auto places = roots(search);
  for (const auto& root : places) {
    if (!is_folder(root)) continue;
    toolkit.looked.push_back(root.string());
    for (const auto& folder : library_folders(root)) {
      if (!toolkit.nvrtc.empty()) break;
      toolkit.nvrtc = newest(folder, "libnvrtc");
      if (toolkit.nvrtc.empty()) continue;
      toolkit.builtins = newest(folder, "libnvrtc-builtins");
      toolkit.includes = include_folders(folder);
    }
  }
  toolkit.nvcc = find_nvcc(search, places);
  return toolkit;
}

std::vector<CudaToolFinding> diagnose_cuda_toolkit(const CudaToolkitSearch& search) {
  const auto toolkit = find_cuda_toolkit(search);
  std::vector<CudaToolFinding> findings;
  findings.push_back({"compiler", toolkit.nvrtc.empty() ? std::string() : "NVRTC, " + toolkit.nvrtc.string(),
                      toolkit.nvrtc.empty() ? kRemedy : ""});
  findings.push_back(
      {"headers", toolkit.includes.empty() ? std::string() : toolkit.includes.front().string(),
       toolkit.includes.empty() ? fmt::format("cuda_fp16.h, mma.h are missing: {}", kRemedy) : std::string()});
  if (!toolkit.nvcc.empty()) findings.push_back({"nvcc", toolkit.nvcc.string(), ""});
  return findings;
}

}  // namespace kerf
