#include "device/arena/perf_counters.hpp"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <system_error>
#include <utility>

#include "device/device.hpp"

namespace kerf::arena {
namespace {

struct CounterKind {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint64_t config = 0;
  double scale = 1;
};

constexpr std::array<CounterKind, 5> kCounters = {{
    {counter_names::task_clock_us, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 1e-3},
    {counter_names::instructions, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 1},
    {counter_names::cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, 1},
    {counter_names::cache_misses, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, 1},
    {counter_names::stalled_cycles, PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, 1},
}};

std::vector<int> threads_of(int process) {
  std::vector<int> threads;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), error)) {
    const std::string name = entry.path().filename().string();
    int thread = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), thread).ec == std::errc()) threads.push_back(thread);
  }
  return threads;
}

int open_counter(const CounterKind& kind, int thread) {
  perf_event_attr wanted{};
  wanted.size = sizeof wanted;
  wanted.type = kind.type;
  wanted.config = kind.config;
  wanted.disabled = 1;
  wanted.inherit = 1;         // threads that it starts
  wanted.exclude_kernel = 1;  // what users may count without privileges
  wanted.exclude_hv = 1;
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return static_cast<int>(::syscall(SYS_perf_event_open, &wanted, thread, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

Result<PerfCounters> PerfCounters::open(int process) {
  PerfCounters counters;
  int refused = ENOENT;
  const std::vector<int> threads = threads_of(process);
  for (const CounterKind& kind : kCounters) {
    std::vector<Event> events;
    for (const int thread : threads) {
      UniqueFd file(open_counter(kind, thread));
      if (!file && kind.type == PERF_TYPE_SOFTWARE) refused = errno;
      if (file) events.push_back({kind.name, kind.scale, std::move(file)});
    }
    if (events.size() < threads.size()) continue;  // without some of the threads its sum would mean nothing
    std::ranges::move(events, std::back_inserter(counters.events_));
  }
  if (!counters.events_.empty()) return counters;
  const char* remedy =
      refused == EACCES || refused == EPERM
          ? "; sysctl kernel.perf_event_paranoid=2 and, in a container, the capability PERFMON allow it"
          : "";
  return fail(Errc::unavailable, fmt::format("perf_event_open: {}{}", std::strerror(refused), remedy));
}

void PerfCounters::control(unsigned long request) {
  for (const Event& event : events_) ::ioctl(event.file.number(), request, 0);
}

void PerfCounters::start() {
  control(PERF_EVENT_IOC_RESET);
  control(PERF_EVENT_IOC_ENABLE);
}

void PerfCounters::stop() { control(PERF_EVENT_IOC_DISABLE); }

std::map<std::string, double> PerfCounters::values() const {
  std::map<std::string, double> values;
  for (const Event& event : events_) {
    std::array<std::uint64_t, 3> read{};  // value, time enabled, time running
    if (::read(event.file.number(), read.data(), sizeof read) != static_cast<ssize_t>(sizeof read)) continue;
    const auto [value, enabled, running] = read;
    if (value == 0 || running == 0) continue;
    const double whole =
        event.scale * static_cast<double>(value) * static_cast<double>(enabled) / static_cast<double>(running);
    values[std::string(event.name)] += whole;
    if (event.name == counter_names::task_clock_us) {
      double& busiest = values[counter_names::busiest_us];
      busiest = std::max(busiest, whole);
    }
  }
  return values;
}

}  // namespace kerf::arena
