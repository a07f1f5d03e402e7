#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "device/arena/pool_impl.hpp"
#include "device/arena/protocol.hpp"

namespace kerf {

ArenaPool::ArenaPool(Sandbox& sandbox, Clock& clock, ArenaPoolOptions options)
    : impl_(std::make_unique<Impl>(sandbox, clock, std::move(options))) {}
ArenaPool::~ArenaPool() = default;

Result<ArenaPool::Impl::Worker> ArenaPool::Impl::start_worker() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(Errc::io, fmt::format("connection to a worker: {}", std::strerror(errno)));
  Worker worker;
  worker.socket = UniqueFd(ends[0]);
  const UniqueFd theirs(ends[1]);

  SandboxCommand command;
  command.argv = {options.self.string(), "worker", options.kind};
  command.argv.insert(command.argv.end(), options.args.begin(), options.args.end());
  command.environment = options.environment;
  command.readable = options.readable;
  command.writable = options.writable;
  command.restrict_files = options.restrict_files;
  command.pass_fds = {{theirs.number(), arena::kWorkerSocket}};
  command.max_output_bytes = 64 << 10;
  command.limits.processes = options.processes;
  command.limits.wall = std::chrono::milliseconds(0);
  KERF_TRY(worker.process, sandbox.start(command));
  return worker;
}

Result<ArenaPool::Impl::Worker> ArenaPool::Impl::acquire() {
  {
    const std::lock_guard lock(mutex_);
    while (!spares_.empty()) {
      Worker worker = std::move(spares_.back());
      spares_.pop_back();
      if (worker.process->alive()) return worker;
    }
  }
  return start_worker();
}

void ArenaPool::Impl::replenish() {
  const std::lock_guard lock(mutex_);
  while (static_cast<int>(spares_.size()) < options.spares) {
    auto worker = start_worker();
    if (!worker) return;
    spares_.push_back(*std::move(worker));
  }
}

}  // namespace kerf
