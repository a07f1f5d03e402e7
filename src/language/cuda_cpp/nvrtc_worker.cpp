// The compiler process: opens libnvrtc, warms it, then compiles what it is sent, one program after another.

#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "language/cuda_cpp/cuda_language.hpp"
#include "language/cuda_cpp/nvrtc_protocol.hpp"
#include "language/cuda_cpp/standard_headers.hpp"
#include "worker/link.hpp"
#include "worker/message.hpp"
#include "worker/pool.hpp"

namespace kerf {
namespace {

using nvrtcProgram = void*;
constexpr int kSuccess = 0;
constexpr int kInvalidOption = 5;  // NVRTC_ERROR_INVALID_OPTION
constexpr std::size_t kLongestLog = 256 << 10;

/// The functions of libnvrtc that are used; names and types as in nvrtc.h.
struct Nvrtc {
  const char* (*nvrtcGetErrorString)(int) = nullptr;
  int (*nvrtcVersion)(int*, int*) = nullptr;
  int (*nvrtcCreateProgram)(nvrtcProgram*, const char*, const char*, int, const char* const*,
                            const char* const*) = nullptr;
  int (*nvrtcDestroyProgram)(nvrtcProgram*) = nullptr;
  int (*nvrtcCompileProgram)(nvrtcProgram, int, const char* const*) = nullptr;
  int (*nvrtcGetCUBINSize)(nvrtcProgram, std::size_t*) = nullptr;
  int (*nvrtcGetCUBIN)(nvrtcProgram, char*) = nullptr;
  int (*nvrtcGetPTXSize)(nvrtcProgram, std::size_t*) = nullptr;
  int (*nvrtcGetPTX)(nvrtcProgram, char*) = nullptr;
  int (*nvrtcGetProgramLogSize)(nvrtcProgram, std::size_t*) = nullptr;
  int (*nvrtcGetProgramLog)(nvrtcProgram, char*) = nullptr;
};

template <class F>
Status bind(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));
  if (!function) return fail(Errc::unavailable, fmt::format("libnvrtc has no function {}: it is too old", name));
  return {};
}

Result<Nvrtc> open_nvrtc(const std::string& path, const std::string& builtins) {
  // libnvrtc opens libnvrtc-builtins by its bare name; once loaded under that name it is found wherever it lies.
  if (!builtins.empty() && !::dlopen(builtins.c_str(), RTLD_NOW | RTLD_GLOBAL)) {
    return fail(Errc::unavailable, fmt::format("cannot open {}: {}", builtins, ::dlerror()));
  }
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail(Errc::unavailable, fmt::format("cannot open {}: {}", path, ::dlerror()));
  Nvrtc nvrtc;
#define KERF_BIND(name) KERF_TRY_VOID(bind(library, #name, nvrtc.name))
  KERF_BIND(nvrtcGetErrorString);
  KERF_BIND(nvrtcVersion);
  KERF_BIND(nvrtcCreateProgram);
  KERF_BIND(nvrtcDestroyProgram);
  KERF_BIND(nvrtcCompileProgram);
  KERF_BIND(nvrtcGetCUBINSize);
  KERF_BIND(nvrtcGetCUBIN);
  KERF_BIND(nvrtcGetPTXSize);
  KERF_BIND(nvrtcGetPTX);
  KERF_BIND(nvrtcGetProgramLogSize);
  KERF_BIND(nvrtcGetProgramLog);
#undef KERF_BIND
  return nvrtc;
}

struct Compilation {
  nvrtc::Status status = nvrtc::Status::refused;
  std::string log, cubin, ptx;
};

using SizeFunction = int (*)(nvrtcProgram, std::size_t*);
using TextFunction = int (*)(nvrtcProgram, char*);

std::string fetch(nvrtcProgram program, SizeFunction size_of, TextFunction text_of) {
  std::size_t size = 0;
  if (size_of(program, &size) != kSuccess || size == 0) return {};
  std::string text(size, '\0');
  if (text_of(program, text.data()) != kSuccess) return {};
  return text;
}

void drop_final_zero(std::string& text) {
  while (!text.empty() && text.back() == '\0') text.pop_back();
}

Compilation compile(const Nvrtc& nvrtc, const std::string& source, const std::vector<std::string>& options) {
  Compilation result;
  const auto& headers = standard_headers();
  std::vector<const char*> names, texts, arguments;
  for (const auto& header : headers) {
    names.push_back(header.name);
    texts.push_back(header.text);
  }
  for (const auto& option : options) arguments.push_back(option.c_str());
  nvrtcProgram program = nullptr;
  int error = nvrtc.nvrtcCreateProgram(&program, source.c_str(), nvrtc::kSourceName, static_cast<int>(headers.size()),
                                       texts.data(), names.data());
  if (error != kSuccess) {
    result.log = fmt::format("nvrtcCreateProgram: {}", nvrtc.nvrtcGetErrorString(error));
    return result;
  }
  error = nvrtc.nvrtcCompileProgram(program, static_cast<int>(arguments.size()), arguments.data());
  result.log = fetch(program, nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog);
  drop_final_zero(result.log);
  if (result.log.size() > kLongestLog) result.log.resize(kLongestLog);
  if (error == kSuccess) {
    result.cubin = fetch(program, nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN);
    result.ptx = fetch(program, nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX);
    drop_final_zero(result.ptx);
    result.status = result.cubin.empty() ? nvrtc::Status::refused : nvrtc::Status::compiled;
  } else {
    if (error == kInvalidOption) result.status = nvrtc::Status::bad_option;
    if (result.log.empty()) result.log = nvrtc.nvrtcGetErrorString(error);
  }
  nvrtc.nvrtcDestroyProgram(&program);
  return result;
}

/// "13.0, V13.0.88": the build is in the assembly's opening comment.
Result<std::string> warm(const Nvrtc& nvrtc) {
  int major = 0, minor = 0;
  nvrtc.nvrtcVersion(&major, &minor);
  const auto trivial = compile(nvrtc, "extern \"C\" __global__ void k(float* x) { x[threadIdx.x] = 1; }",
                               {"--gpu-architecture=sm_90", "--std=c++17", "-default-device"});
  // A compiler so old or so new that it does not know sm_90 is still a compiler.
  if (trivial.status == nvrtc::Status::refused) {
    return fail(Errc::tool_failed,
                fmt::format("NVRTC {}.{} does not compile an empty kernel: {}", major, minor, trivial.log));
  }
  std::string version = fmt::format("{}.{}", major, minor);
  const auto at = trivial.ptx.find("release ");
  if (at != std::string::npos) version = trivial.ptx.substr(at + 8, trivial.ptx.find('\n', at) - at - 8);
  return version;
}

int serve(worker::Link& link, const Nvrtc& nvrtc) {
  for (;;) {
    const auto request = link.receive(worker::Link::kNoLimit);
    if (!request) return 0;
    worker::Reader reader(*request);
    const std::string source = reader.text();
    std::vector<std::string> options(reader.count());
    for (auto& option : options) option = reader.text();
    if (!reader.ok()) return 2;
    const auto result = compile(nvrtc, source, options);
    worker::Writer answer;
    answer.put(result.status).text(result.log).text(result.cubin).text(result.ptx);
    if (!link.send(answer.bytes())) return 0;
  }
}

}  // namespace

int nvrtc_worker_main(std::span<const std::string> args) {
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i + 1 < args.size(); i += 2) values[args[i]] = args[i + 1];
  auto link = worker::enter_worker(std::strtoll(values["--memory"].c_str(), nullptr, 10));
  if (!link) {
    std::fprintf(stderr, "%s\n", link.error().message.c_str());
    return 2;
  }
  // NVRTC looks for quoted includes in the current folder, which is the judge's and none of the candidate's business.
  if (::chdir("/") != 0) return 2;
  const auto nvrtc = open_nvrtc(values["--library"], values["--builtins"]);
  const auto version = nvrtc ? warm(*nvrtc) : tl::unexpected<Error>(nvrtc.error());
  const std::string greeting = worker::greeting(version.has_value(), version ? *version : version.error().message);
  if (!link->send(greeting) || !version) return 1;
  return serve(*link, *nvrtc);
}

}  // namespace kerf
