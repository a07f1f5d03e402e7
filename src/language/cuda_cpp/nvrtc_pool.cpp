#include "language/cuda_cpp/nvrtc_pool.hpp"

#include <utility>

#include <fmt/format.h>

#include "language/cuda_cpp/nvrtc_protocol.hpp"
#include "worker/message.hpp"

namespace kerf {
namespace {

constexpr std::chrono::milliseconds kStartLimit{30000};

std::string encode(const NvrtcProgram& program) {
  worker::Writer message;
  message.text(program.source).put<std::uint64_t>(program.options.size());
  for (const auto& option : program.options) message.text(option);
  return message.bytes();
}

Result<NvrtcOutcome> decode(std::string_view bytes) {
  worker::Reader reader(bytes);
  const auto status = reader.get<nvrtc::Status>();
  std::string log = reader.text(), cubin = reader.text(), ptx = reader.text();
  if (!reader.ok()) return fail(Errc::io, "a compiler process sent a malformed answer");
  if (status == nvrtc::Status::compiled) return NvrtcCompiled{std::move(cubin), std::move(ptx), std::move(log)};
  return NvrtcRefused{std::move(log), status == nvrtc::Status::bad_option};
}

}  // namespace

NvrtcPool::NvrtcPool(worker::Command command, int most_processes)
    : command_(std::move(command)), most_(most_processes) {}

Result<NvrtcPool::Compiler> NvrtcPool::start() const {
  Compiler compiler;
  KERF_TRY(compiler.process, worker::Process::start(command_));
  auto hello = compiler.process->receive(kStartLimit);
  if (!hello)
    return fail(Errc::tool_failed, fmt::format("the NVRTC process does not start: {}", hello.error().message));
  worker::Reader reader(*hello);
  const bool usable = reader.get<bool>();
  compiler.version = reader.text();
  if (!reader.ok()) return fail(Errc::tool_failed, "the NVRTC process sent a malformed greeting");
  if (!usable) return fail(Errc::tool_failed, compiler.version);
  return compiler;
}

Result<NvrtcPool::Compiler> NvrtcPool::acquire() {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !idle_.empty() || started_ < most_; });
    if (!idle_.empty()) {
      Compiler compiler = std::move(idle_.back());
      idle_.pop_back();
      return compiler;
    }
    ++started_;
  }
  auto compiler = start();
  if (!compiler) forget();
  return compiler;
}

void NvrtcPool::release(Compiler compiler) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(compiler));
  }
  changed_.notify_one();
}

void NvrtcPool::forget() {
  {
    const std::lock_guard lock(mutex_);
    --started_;
  }
  changed_.notify_one();
}

Result<std::string> NvrtcPool::version() {
  KERF_TRY(Compiler compiler, acquire());
  std::string version = compiler.version;
  release(std::move(compiler));
  return version;
}

Result<NvrtcOutcome> NvrtcPool::compile(const NvrtcProgram& program, std::chrono::milliseconds limit) {
  const std::string request = encode(program);
  std::string how;
  // A process may have died while it was idle; only a second death is this source's doing.
  for (int attempt = 0; attempt < 2; ++attempt) {
    KERF_TRY(Compiler compiler, acquire());
    Result<std::string> answer = std::string();
    if (auto sent = compiler.process->send(request); !sent) {
      answer = tl::unexpected<Error>(std::move(sent).error());
    } else {
      answer = compiler.process->receive(limit);
    }
    if (answer) {
      auto outcome = decode(*answer);
      if (outcome) {
        release(std::move(compiler));
      } else {
        forget();
      }
      return outcome;
    }
    compiler.process->kill();
    forget();
    if (answer.error().code == Errc::timeout) {
      return NvrtcLost{
          fmt::format("the compiler was still busy with this source after {} ms and was stopped", limit.count())};
    }
    how = fmt::format("the compiler crashed on this source: {}", answer.error().message);
  }
  return NvrtcLost{std::move(how)};
}

}  // namespace kerf
