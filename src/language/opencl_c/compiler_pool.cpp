#include "language/opencl_c/compiler_pool.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace kerf::opencl {
namespace {

constexpr std::chrono::milliseconds kStartLimit{60000};  // a cold start reads 200 MB of compiler
constexpr int kMostBuilds = 500;                         // drivers leak; then a fresh process takes over

}  // namespace

CompilerPool::CompilerPool(worker::Command command, int most_processes)
    : command_(std::move(command)), most_(std::max(1, most_processes)) {}

Status CompilerPool::warm() {
  KERF_TRY(auto process, worker::Process::start(command_));
  const std::lock_guard lock(mutex_);
  ++started_;
  idle_.push_back({std::move(process), false, 0});
  return {};
}

Result<CompilerPool::Compiler> CompilerPool::acquire() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !idle_.empty() || started_ < most_; });
  if (!idle_.empty()) {
    Compiler compiler = std::move(idle_.back());
    idle_.pop_back();
    return compiler;
  }
  ++started_;
  lock.unlock();
  auto process = worker::Process::start(command_);
  if (process) return Compiler{std::move(*process), false, 0};
  forget();
  return tl::unexpected(process.error());
}

Status CompilerPool::greet(Compiler& compiler) {
  if (compiler.greeted) return {};
  auto greeting = compiler.process->receive(kStartLimit);
  if (!greeting) {
    return fail(Errc::unavailable,
                fmt::format("the OpenCL compiler process did not start: {}", greeting.error().message));
  }
  if (!greeting->empty()) return fail(Errc::unavailable, *greeting);
  compiler.greeted = true;
  return {};
}

void CompilerPool::release(Compiler compiler) {
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(compiler));
  }
  changed_.notify_one();
}

void CompilerPool::forget() {
  {
    const std::lock_guard lock(mutex_);
    --started_;
  }
  changed_.notify_one();
}

Result<std::variant<BuildReply, CompilerLost>> CompilerPool::build(const BuildRequest& request,
                                                                   std::chrono::milliseconds limit) {
  KERF_TRY(auto compiler, acquire());
  auto ready = greet(compiler);
  if (ready) ready = compiler.process->send(encode(request));
  if (!ready) {
    forget();
    return tl::unexpected(ready.error());
  }
  auto answer = compiler.process->receive(limit);
  if (answer) {
    auto reply = decode_reply(*answer);
    if (reply && ++compiler.builds < kMostBuilds) {
      release(std::move(compiler));
    } else {
      forget();
    }
    if (!reply) return tl::unexpected(reply.error());
    return *std::move(reply);
  }
  forget();
  if (answer.error().code == Errc::timeout) {
    return CompilerLost{fmt::format("the OpenCL compiler did not finish within {} ms", limit.count())};
  }
  return CompilerLost{fmt::format("the OpenCL compiler crashed on this source: {}", answer.error().message)};
}

}  // namespace kerf::opencl
