#include "codegen/compiled_cpp.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.hpp"
#include "base/text.hpp"
#include "codegen/buffer_plan.hpp"
#include "codegen/dialects/dialects.hpp"

namespace kerf::codegen {
namespace {

namespace fs = std::filesystem;

/// A folder that goes away with its owner.
struct TemporaryFolder {
  fs::path path;
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "kerf-codegen-XXXXXX").string();
    KERF_CHECK(mkdtemp(pattern.data()) != nullptr, "no temporary folder");
    path = pattern;
  }
  ~TemporaryFolder() { fs::remove_all(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
};

// Calls an entry point of any signature with pointers from an array.
constexpr const char* kCaller = R"(
template <int... I> struct KerfList {};
template <int N, int... I> struct KerfCount : KerfCount<N - 1, N - 1, I...> {};
template <int... I> struct KerfCount<0, I...> { typedef KerfList<I...> type; };
template <class... A, int... I> void kerf_apply(void (*f)(A...), void** p, KerfList<I...>) { f((A)p[I]...); }
template <class... A> void kerf_spread(void (*f)(A...), void** p) { kerf_apply(f, p, typename KerfCount<sizeof...(A)>::type()); }
extern "C" void kerf_call(void** p) { kerf_spread(kerf_kernel, p); }
)";

// How everything here is compiled. -ffp-contract is left at its default, as in a user's build.
constexpr const char* kFlags = "-std=c++20 -O1 -Wall -Wno-div-by-zero -Werror -fPIC";

Status run_command(const std::string& command, const fs::path& log) {
  if (std::system((command + " > " + log.string() + " 2>&1").c_str()) == 0) return {};
  return fail(Errc::tool_failed, command + "\n" + read_file(log).value_or("no output"));
}

/// The headers that every kernel includes, precompiled once per program: to parse them takes longer than all else.
Result<fs::path> precompiled_prologue() {
  static const TemporaryFolder folder;
  static const Status made = [&]() -> Status {
    const fs::path header = folder.path / "prologue.hpp";
    KERF_TRY_VOID(write_file_atomic(header, std::string(dialects::cpp.prologue)));
    return run_command(fmt::format("g++ {0} -x c++-header {1} -o {1}.gch", kFlags, header.string()),
                       folder.path / "log");
  }();
  KERF_TRY_VOID(made);
  return folder.path / "prologue.hpp";
}

}  // namespace

std::string symbol_definitions(const Bindings& bindings) {
  std::string text;
  for (const auto& [name, value] : bindings) text += fmt::format("enum {{ {} = {} }};\n", name, value);
  return text;
}

bool is_installed(const std::string& program) {
  return std::system(("command -v " + program + " > /dev/null 2>&1").c_str()) == 0;
}

Status check_with(const std::string& command, const std::string& source, const std::string& extension) {
  const TemporaryFolder folder;
  const fs::path file = folder.path / ("source." + extension);
  KERF_TRY_VOID(write_file_atomic(file, source));
  std::string text = command;
  const auto place = text.find("{}");
  KERF_CHECK(place != std::string::npos, "the command needs a place for the file");
  text.replace(place, 2, file.string());
  return run_command(text, folder.path / "log");
}

Result<std::vector<ir::HostTensor>> run_compiled(const ir::Graph& graph, std::span<const ir::HostTensor> inputs,
                                                 const Bindings& bindings, const NaiveOptions& options) {
  KERF_TRY(const std::string source, generate_naive(graph, dialects::cpp, options));
  KERF_CHECK(source.find(dialects::cpp.prologue) != std::string::npos, "the source brings its headers itself");
  const TemporaryFolder folder;
  const fs::path file = folder.path / "kernel.cpp", library = folder.path / "kernel.so";
  KERF_TRY_VOID(write_file_atomic(file, symbol_definitions(bindings) + source + kCaller));
  KERF_TRY(const fs::path prologue, precompiled_prologue());
  KERF_TRY_VOID(run_command(
      fmt::format("g++ {} -shared -include {} -o {} {}", kFlags, prologue.string(), library.string(), file.string()),
      folder.path / "log"));
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return fail(Errc::io, dlerror());
  auto* call = reinterpret_cast<void (*)(void**)>(dlsym(handle, "kerf_call"));
  KERF_CHECK(call != nullptr, "the caller is part of the source");

  KERF_TRY(const BufferPlan plan, make_buffer_plan(graph, options));
  std::vector<ir::HostTensor> copies(inputs.begin(), inputs.end()), buffers;
  std::vector<void*> pointers;
  for (auto& copy : copies) pointers.push_back(copy.bytes.data());
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.role == BufferRole::input) continue;
    KERF_TRY(const auto shape, evaluate(buffer.shape, bindings));
    buffers.push_back(ir::make_tensor(buffer.dtype, shape));
    std::fill(buffers.back().bytes.begin(), buffers.back().bytes.end(), std::byte{0xff});
  }
  for (auto& buffer : buffers) pointers.push_back(buffer.bytes.data());
  call(pointers.data());
  dlclose(handle);
  buffers.resize(graph.outputs.size());
  return buffers;
}

}  // namespace kerf::codegen
