#include "language/cuda_cpp/nvrtc_pool.hpp"

#include <optional>
#include <utility>

#include "language/cuda_cpp/nvrtc_protocol.hpp"
#include "worker/message.hpp"

namespace kerf {
namespace {

std::string encode(const NvrtcProgram& program) {
  worker::Writer message;
  message.text(program.source).put<std::uint64_t>(program.options.size());
  for (const auto& option : program.options) message.text(option);
  return message.bytes();
}

/// Nothing for a malformed answer.
std::optional<NvrtcOutcome> decode(std::string_view bytes) {
  worker::Reader reader(bytes);
  const auto status = reader.get<nvrtc::Status>();
  std::string log = reader.text(), cubin = reader.text(), ptx = reader.text();
  if (!reader.ok()) return std::nullopt;
  if (status == nvrtc::Status::compiled) return NvrtcCompiled{std::move(cubin), std::move(ptx), std::move(log)};
  return NvrtcRefused{std::move(log), status == nvrtc::Status::bad_option};
}

worker::PoolOptions pool_options(int most_processes) {
  worker::PoolOptions options;
  options.compiler = "the NVRTC compiler";
  options.most_processes = most_processes;
  options.start_limit = std::chrono::milliseconds(30000);
  return options;
}

}  // namespace

NvrtcPool::NvrtcPool(worker::Command command, int most_processes)
    : pool_(std::move(command), pool_options(most_processes)) {}

Result<std::string> NvrtcPool::version() { return pool_.version(); }

Result<NvrtcOutcome> NvrtcPool::compile(const NvrtcProgram& program, std::chrono::milliseconds limit) {
  KERF_TRY(auto answer,
           pool_.request(encode(program), limit, [](std::string_view bytes) { return decode(bytes).has_value(); }));
  if (auto* lost = std::get_if<worker::Lost>(&answer)) return NvrtcLost{std::move(lost->how)};
  return *decode(std::get<std::string>(answer));
}

}  // namespace kerf
