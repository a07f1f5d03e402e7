#include "device/arena/kernel_process.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/uio.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/file.hpp"
#include "device/arena/fault_text.hpp"
#include "device/arena/perf_counters.hpp"
#include "sandbox/lockdown.hpp"

namespace kerf::arena {
namespace {

using namespace std::chrono_literals;

// How long to wait between looks whether the process still lives. Short at first, because most calls are; a crash wakes
// us by itself unless it took the reporting handler with it.
constexpr auto kFirstLook = 2ms;
constexpr auto kLongestLook = 16ms;
constexpr auto kEndGrace = 500ms;  // between "I am ending" and the end

// Pages that the kernel maps around a fault.
constexpr std::int64_t kFaultAround = 16 * kPage;

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean(text.substr(0, 1500));
  clean.resize(std::min(clean.size(), clean.find('\0')));
  for (char& letter : clean) {
    if ((letter < ' ' && letter != '\n' && letter != '\t') || letter == 0x7f) letter = '?';
  }
  return clean;
}

Result<std::variant<std::unique_ptr<KernelProcess>, Fault>> KernelProcess::load(ArenaPool::Impl& pool,
                                                                                const SlotShape& shape, int slots,
                                                                                LoadMessage message, Scratch scratch,
                                                                                const Artifact& artifact) {
  const std::uint64_t turn = pool.next_turn();
  KERF_TRY(SlotMemory memory, SlotMemory::make(shape, slots, turn));
  message.slots = memory.places();
  ZonePlanner planner;
  for (std::size_t i = 0; i < scratch.bytes.size(); ++i)
    message.scratch.push_back(planner.add(scratch.bytes[i], 7 * turn + 11 * i));
  message.memory_bytes = pool.options.memory_bytes;
  KERF_TRY(const UniqueFd code, SharedMemory::make_read_only(artifact.bytes));
  KERF_TRY(SharedMemory control, SharedMemory::make(kControlBytes));
  KERF_TRY(SharedMemory scratch_memory, SharedMemory::make(planner.end()));

  KERF_TRY(auto worker, pool.acquire());
  message.surroundings = surroundings_of(worker.process->pid());
  KERF_TRY(const UniqueFd words, SharedMemory::make_read_only(encode(message)));
  std::unique_ptr<KernelProcess> kernel(new KernelProcess(pool, std::move(worker)));
  kernel->slots_ = std::move(memory);
  kernel->control_ = std::move(control);
  kernel->scratch_ = std::move(scratch_memory);
  kernel->places_ = message.scratch;
  kernel->names_ = std::move(scratch.names);
  kernel->spread_ = spread_zones(message.slots);
  kernel->control().command.store(kLoadCommand, std::memory_order_release);
  const auto deadline = pool.clock.now() + pool.options.start_limit + pool.options.load_limit;
  const Status sent =
      send_load(kernel->worker_.socket.number(),
                {kernel->control_.fd(), kernel->slots_.fd(), kernel->scratch_.fd(), code.number(), words.number()});
  if (!sent) {
    const auto outcome = kernel->worker_.process->kill_and_wait();
    return fail(Errc::unavailable,
                fmt::format("the {} worker did not start: {}", pool.options.kind, clean_text(outcome.err)));
  }
  pool.replenish();  // the next worker starts while this one loads
  switch (kernel->wait_for(kLoadCommand, deadline)) {
    case Wait::timed_out:
      kernel->worker_.process->kill_and_wait();
      return Fault{Fault::Kind::timed_out,
                   fmt::format("loading took longer than {} ms", pool.options.load_limit.count())};
    case Wait::ended: return kernel->explain_end();
    case Wait::done: break;
  }
  if (!kernel->worker_.process->freeze()) return kernel->explain_end();
  const Control& said = kernel->control();
  kernel->arena_address_ = said.arena_address;
  if (said.failed != 0) {
    const std::string text = clean_text({said.text.data(), said.text.size()});
    if (said.failed == 2) return fail(Errc::unavailable, text);
    return Fault{Fault::Kind::crashed, text};
  }
  return kernel;
}

KernelProcess::Wait KernelProcess::wait_for(std::uint32_t command, std::chrono::nanoseconds deadline) {
  std::chrono::nanoseconds look = kFirstLook;
  for (;;) {
    const std::uint32_t done = control().done.load(std::memory_order_acquire);
    if (done == command) return Wait::done;
    if (done == kEnded) break;
    const auto left = deadline - pool_.clock.now();
    if (left <= 0ns) return worker_.process->alive() ? Wait::timed_out : Wait::ended;
    futex_wait(control().done, done, std::min(left, look));
    if (control().done.load(std::memory_order_acquire) == done) {
      if (!worker_.process->alive()) return Wait::ended;
      look = std::min<std::chrono::nanoseconds>(2 * look, kLongestLook);
    }
  }
  for (const auto end = pool_.clock.now() + kEndGrace; pool_.clock.now() < end && worker_.process->alive();)
    std::this_thread::sleep_for(200us);
  return Wait::ended;
}

Fault KernelProcess::explain_end() {
  const ProcessOutcome outcome = worker_.process->kill_and_wait();
  WorkerEnd end;
  end.exit_code = outcome.exit_code;
  end.signal = outcome.signal;
  end.reported_signal = static_cast<int>(std::min<std::uint32_t>(control().fault_signal, 64));
  end.stack_overflow = control().fault_is_stack != 0;
  end.address = control().fault_address;
  end.in_arena = arena_address_ != 0 && end.address >= arena_address_ &&
                 end.address - arena_address_ < static_cast<std::uint64_t>(spread_.bytes);
  end.forbidden_call = static_cast<int>(std::min<std::uint32_t>(control().forbidden_call, 100'000)) - 1;
  end.words = clean_text(outcome.err);
  return explain(end);
}

bool KernelProcess::leaves_threads(CallManner::Guest guest) {
  if (guest == CallManner::Guest::none || !pool_.options.counts_threads) return false;
  constexpr int kManyMore = 8;  // of several dozen calls
  const std::string status = read_file(fmt::format("/proc/{}/status", worker_.process->pid())).value_or("");
  const auto at = status.find("\nThreads:");
  const int threads = at == std::string::npos ? 0 : std::atoi(status.c_str() + at + std::strlen("\nThreads:"));
  if (guest == CallManner::Guest::repeated)
    return threads_after_a_call_ > 0 && threads >= threads_after_a_call_ + kManyMore;
  threads_after_a_call_ = threads;
  return false;
}

Result<RunOutcome> KernelProcess::execute(Action action, std::span<const int> slots, std::chrono::milliseconds limit,
                                          const CallManner& manner) {
  Control& page = control();
  page.action = action;
  page.manner = manner;
  page.slot_count = static_cast<std::int32_t>(slots.size());
  std::ranges::copy(slots, page.slots.begin());
  page.failed = 0;
  page.device_us = 0;
  page.done.store(0, std::memory_order_relaxed);
  if (++command_ == kEnded) command_ = kLoadCommand + 1;

  // Time runs from before the worker can do anything until it says it is done; it is believed only if its outputs are
  // right when it has been stopped.
  const auto begin = pool_.clock.now();
  page.command.store(command_, std::memory_order_release);
  futex_wake(page.command);
  if (!worker_.process->thaw()) return RunOutcome(explain_end());
  const Wait wait = wait_for(command_, begin + limit);
  if (wait == Wait::timed_out) {
    worker_.process->kill_and_wait();
    return RunOutcome(Fault{Fault::Kind::timed_out, fmt::format("no result after {} ms", limit.count())});
  }
  if (wait == Wait::ended || !worker_.process->freeze()) return RunOutcome(explain_end());
  const auto end = pool_.clock.now();
  if (page.failed != 0) {
    Fault fault{Fault::Kind::crashed, clean_text({page.text.data(), page.text.size()})};
    worker_.process->kill_and_wait();
    return RunOutcome(std::move(fault));
  }
  if (leaves_threads(manner.guest)) {
    worker_.process->kill_and_wait();
    return RunOutcome(Fault{Fault::Kind::crashed, "the kernel leaves threads behind from call to call"});
  }
  Timing timing;
  timing.host_us = std::chrono::duration<double, std::micro>(end - begin).count();
  // Where candidate code runs in the worker itself, a time the worker tells could be the candidate's invention.
  const double told = page.device_us;
  if (pool_.options.separate_memory && std::isfinite(told) && told > 0 && told <= timing.host_us)
    timing.device_us = told;
  return RunOutcome(timing);
}

Result<std::variant<Counted, Fault>> KernelProcess::count(std::span<const int> slots, std::chrono::milliseconds limit) {
  using Outcome = std::variant<Counted, Fault>;
  if (slots.empty()) return fail(Errc::invalid_input, "counting needs a slot");
  KERF_TRY(RunOutcome first, execute(Action::run, slots.first(1), limit));  // after it its threads are there
  if (auto* fault = std::get_if<Fault>(&first)) return Outcome(std::move(*fault));
  KERF_TRY(PerfCounters counters, PerfCounters::open(worker_.process->pid()));
  counters.start();
  KERF_TRY(RunOutcome ran, execute(Action::run, slots.size() > 1 ? slots.subspan(1) : slots, limit));
  counters.stop();
  if (auto* fault = std::get_if<Fault>(&ran)) return Outcome(std::move(*fault));
  return Outcome(Counted{"perf", counters.values()});
}

void KernelProcess::fault_in(int slot) {
  const auto number = static_cast<std::size_t>(slot);
  const std::vector<Place>& places = slots_.places()[number];
  for (std::size_t i = 0; i < places.size(); ++i)
    fault_in(static_cast<std::int64_t>(arena_address_) + spread_.begins[number][i], places[i].zone_bytes);
}

void KernelProcess::fault_in(std::int64_t first, std::int64_t bytes) {
  if (arena_address_ == 0) return;
  std::vector<char> sink(1024);
  iovec local{sink.data(), sink.size()};
  std::vector<iovec> remote;
  const auto flush = [&] {
    local.iov_len = remote.size();
    if (!remote.empty() && ::process_vm_readv(worker_.process->pid(), &local, 1, remote.data(), remote.size(), 0) < 0)
      arena_address_ = 0;  // not permitted here: do not try again
    remote.clear();
  };
  const auto last = first + bytes;
  for (std::int64_t at = first; at < last && arena_address_ != 0; at = (at / kFaultAround + 1) * kFaultAround) {
    remote.push_back({reinterpret_cast<void*>(at), 1});
    if (remote.size() == sink.size()) flush();
  }
  flush();
}

void KernelProcess::fill_scratch(Poison poison) {
  poison_ = poison;
  for (const auto& place : places_) {
    fill_red_zones(scratch_.data(), place, poison);
    fill_poison(scratch_.data(), place, poison);
  }
}

std::vector<std::string> KernelProcess::broken_scratch() const {
  std::vector<std::string> broken;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (!red_zones_intact(scratch_.data(), places_[i], poison_)) broken.push_back(names_[i]);
  }
  return broken;
}

}  // namespace kerf::arena
