// The compiler process: one OpenCL driver, one build at a time. A crash here costs one candidate and this process.

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/text.hpp"
#include "language/opencl_c/bitcode_facts.hpp"
#include "language/opencl_c/compile_protocol.hpp"
#include "language/opencl_c/opencl_language.hpp"
#include "opencl/cl_library.hpp"
#include "worker/link.hpp"
#include "worker/pool.hpp"

namespace kerf {
namespace {

using opencl::BuildReply;
using opencl::BuildRequest;
using opencl::ClSession;

/// PoCL's bitcode of the program just built: the only program.bc in a folder that was emptied before.
std::string pocl_bitcode(const std::string& folder) {
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    if (i->path().filename() == "program.bc") return read_file(i->path()).value_or("");
  }
  return "";
}

void empty_folder(const std::string& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    std::filesystem::remove_all(entry.path(), ignored);
  }
}

std::string kernel_names(const ClSession& session, cl_program program) {
  std::size_t size = 0;
  if (session.cl.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size) != CL_SUCCESS || size == 0)
    return "";
  std::string names(size, '\0');
  session.cl.clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, names.data(), nullptr);
  return names.c_str();
}

template <class T>
T work_group_value(const ClSession& session, cl_kernel kernel, cl_kernel_work_group_info what, T otherwise) {
  T value{};
  const auto got = session.cl.clGetKernelWorkGroupInfo(kernel, session.device, what, sizeof value, &value, nullptr);
  return got == CL_SUCCESS ? value : otherwise;
}

std::vector<KernelFacts> kernel_facts(const ClSession& session, cl_program program) {
  std::vector<KernelFacts> all;
  for (const auto& name : split(kernel_names(session, program), ';')) {
    cl_int error = CL_SUCCESS;
    const cl_kernel kernel = name.empty() ? nullptr : session.cl.clCreateKernel(program, name.c_str(), &error);
    if (!kernel || error != CL_SUCCESS) continue;
    KernelFacts facts;
    facts.name = name;
    constexpr auto kUnknown = static_cast<cl_ulong>(-1);
    facts.shared_bytes =
        static_cast<std::int64_t>(work_group_value<cl_ulong>(session, kernel, CL_KERNEL_LOCAL_MEM_SIZE, kUnknown));
    facts.local_bytes =
        static_cast<std::int64_t>(work_group_value<cl_ulong>(session, kernel, CL_KERNEL_PRIVATE_MEM_SIZE, kUnknown));
    const auto most = work_group_value<std::size_t>(session, kernel, CL_KERNEL_WORK_GROUP_SIZE, 0);
    facts.max_threads = most == 0 ? -1 : static_cast<int>(most);
    all.push_back(std::move(facts));
    session.cl.clReleaseKernel(kernel);
  }
  return all;
}

std::string program_binary(const ClSession& session, cl_program program) {
  std::size_t size = 0;
  if (session.cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS)
    return "";
  std::string binary(size, '\0');
  auto* bytes = reinterpret_cast<unsigned char*>(binary.data());
  if (session.cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) return "";
  return binary;
}

void add(std::vector<std::string>& to, const std::vector<std::string>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

void add_code_facts(const ClSession& session, const std::string& folder, BuildReply& reply) {
  StaticFacts code;
  if (session.is_pocl) {
    if (auto facts = opencl::read_bitcode_facts(pocl_bitcode(folder))) code = std::move(*facts);
  } else if (reply.binary.find(".version") != std::string::npos && reply.binary.find(".target") != std::string::npos) {
    reply.listing = reply.binary.c_str();
    code = opencl::read_ptx_facts(reply.listing);
  }
  for (const auto& counted : code.kernels) {  // PoCL 5 reports local memory only after its last code generation
    for (auto& kernel : reply.facts.kernels) {
      if (kernel.name == counted.name) kernel.shared_bytes = std::max(kernel.shared_bytes, counted.shared_bytes);
    }
  }
  add(reply.facts.writable_globals, code.writable_globals);
  add(reply.facts.forbidden_symbols, code.forbidden_symbols);
  add(reply.facts.constructors, code.constructors);
}

BuildReply build(const ClSession& session, const std::string& folder, const BuildRequest& request) {
  BuildReply reply;
  const char* text = request.source.c_str();
  const std::size_t length = request.source.size();
  cl_int error = CL_SUCCESS;
  const cl_program program = session.cl.clCreateProgramWithSource(session.context, 1, &text, &length, &error);
  if (error != CL_SUCCESS) {
    reply.log = "clCreateProgramWithSource: " + opencl::cl_error_name(error);
    return reply;
  }
  const cl_int built =
      session.cl.clBuildProgram(program, 1, &session.device, request.options.c_str(), nullptr, nullptr);
  reply.log = opencl::build_log(session, program);
  if (built == CL_SUCCESS) {
    reply.facts.kernels = kernel_facts(session, program);
    if (!reply.facts.kernels.empty()) reply.binary = program_binary(session, program);
    add_code_facts(session, folder, reply);
    reply.built = true;
  } else if (trim(reply.log).empty()) {
    reply.log = "clBuildProgram: " + opencl::cl_error_name(built);
  }
  session.cl.clReleaseProgram(program);
  return reply;
}

Status serve(worker::Link& link, int device, const std::string& base) {
  KERF_TRY(const std::string folder, opencl::claim_private_folder(base));
  ::setenv("POCL_CACHE_DIR", folder.c_str(), 1);
  ::setenv("TMPDIR", folder.c_str(), 1);
  ::setenv("HOME", folder.c_str(), 1);
  KERF_TRY(const ClSession session, opencl::open_session(device));
  // Reads the driver's library of built-in functions, which takes most of a first build.
  const auto warm = build(session, folder, {"__kernel void warm(__global float* x) { x[0] = exp(x[0]); }", ""});
  if (!warm.built) return fail(Errc::unavailable, "the OpenCL compiler cannot build a trivial kernel: " + warm.log);
  KERF_TRY_VOID(link.send(worker::greeting(true, "")));
  for (;;) {
    empty_folder(folder);
    auto bytes = link.receive(worker::Link::kNoLimit);
    if (!bytes) return {};  // the judge is gone
    KERF_TRY(const auto request, opencl::decode_request(*bytes));
    KERF_TRY_VOID(link.send(opencl::encode(build(session, folder, request))));
  }
}

}  // namespace

int opencl_compile_main(std::span<const std::string> args) {
  if (args.size() != 2) return 2;
  auto link = worker::enter_worker(0);
  if (!link) return 2;
  const auto served = serve(*link, std::atoi(args[0].c_str()), args[1]);
  if (served) return 0;
  (void)link->send(worker::greeting(false, served.error().message));
  return 1;
}

}  // namespace kerf
