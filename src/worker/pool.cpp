#include "worker/pool.hpp"

#include <fmt/format.h>

#include <utility>

#include "worker/message.hpp"

namespace kerf::worker {

ProcessSlots::Slot::~Slot() {
  if (slots_ == nullptr) return;
  {
    const std::lock_guard lock(slots_->mutex_);
    ++slots_->free_;
  }
  slots_->changed_.notify_one();
}

ProcessSlots::Slot ProcessSlots::take() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return free_ > 0; });
  --free_;
  return Slot(*this);
}

std::string greeting(bool usable, std::string_view text) { return Writer().put<bool>(usable).text(text).bytes(); }

Pool::Pool(Command command, PoolOptions options)
    : command_(std::move(command)), options_(std::move(options)), slots_(options_.most_processes) {}

Status Pool::warm() {
  KERF_TRY(Worker worker, start());
  keep(std::move(worker));
  return {};
}

Result<std::string> Pool::version() {
  const auto slot = slots_.take();
  KERF_TRY(Worker worker, idle_or_new());
  KERF_TRY_VOID(greet(worker));
  std::string version = worker.version;
  keep(std::move(worker));
  return version;
}

Result<Pool::Worker> Pool::start() const {
  Worker worker;
  KERF_TRY(worker.process, Process::start(command_));
  return worker;
}

Result<Pool::Worker> Pool::idle_or_new() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      Worker worker = std::move(idle_.back());
      idle_.pop_back();
      return worker;
    }
  }
  return start();  // slots bound the processes: one is started only when none of those in this slot's share is idle
}

Status Pool::greet(Worker& worker) const {
  if (worker.greeted) return {};
  const auto message = worker.process->receive(options_.start_limit);
  if (!message)
    return fail(options_.unusable, fmt::format("{} does not start: {}", options_.compiler, message.error().message));
  Reader reader(*message);
  const bool usable = reader.get<bool>();
  std::string text = reader.text();
  if (!reader.ok()) return fail(options_.unusable, fmt::format("{} sent a malformed greeting", options_.compiler));
  if (!usable) return fail(options_.unusable, std::move(text));
  worker.greeted = true;
  worker.version = std::move(text);
  return {};
}

void Pool::keep(Worker worker) {
  if (options_.most_requests > 0 && worker.requests >= options_.most_requests) return;
  worker.fresh = false;
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(worker));
}

Result<std::variant<std::string, Lost>> Pool::request(std::string_view payload, std::chrono::milliseconds limit,
                                                      const std::function<bool(std::string_view)>& well_formed) {
  const auto slot = slots_.take();
  for (bool retry = true;; retry = false) {
    KERF_TRY(Worker worker, retry ? idle_or_new() : start());
    KERF_TRY_VOID(greet(worker));
    Result<std::string> answer = std::string();
    if (auto sent = worker.process->send(payload); sent) {
      answer = worker.process->receive(limit);
    } else {
      answer = tl::unexpected<Error>(std::move(sent).error());
    }
    if (answer) {
      if (!well_formed(*answer))
        return fail(Errc::io, fmt::format("{} process sent a malformed answer", options_.compiler));
      ++worker.requests;
      keep(std::move(worker));
      return std::variant<std::string, Lost>(*std::move(answer));
    }
    worker.process->kill();
    if (answer.error().code == Errc::timeout)
      return Lost{fmt::format("{} did not finish within {} ms and was stopped", options_.compiler, limit.count())};
    if (worker.fresh || !retry)
      return Lost{fmt::format("{} crashed on this source: {}", options_.compiler, answer.error().message)};
  }
}

}  // namespace kerf::worker
