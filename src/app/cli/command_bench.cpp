#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "app/cli/bench_commands.hpp"
#include "app/cli/bench_text.hpp"
#include "app/cli/bench_view.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/interrupt_guard.hpp"
#include "app/cli/memory_option.hpp"
#include "app/cli/output_path.hpp"
#include "app/cli/run_commands.hpp"
#include "app/cli/run_text.hpp"
#include "base/clock.hpp"
#include "base/one_line.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "bench/real_parts.hpp"
#include "bench/results.hpp"
#include "run/settings.hpp"
#include "store/folder_lock.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

constexpr double kTaskSeconds = 20;   ///< of a search, where no budget is given
constexpr double kMemoryShare = 0.9;  ///< of the machine's, for one search
constexpr const char* kOwnMemory = "memory.db";

std::string host_words() {
  std::ifstream cpus("/proc/cpuinfo");
  std::string model;
  for (std::string line; model.empty() && std::getline(cpus, line);)
    if (line.starts_with("model name")) model = std::string(trim(line.substr(line.find(':') + 1)));
  utsname system{};
  ::uname(&system);
  return fmt::format("{}, {}, {} {}", model.empty() ? "unknown processor" : model, counted(available_cores(), "core"),
                     system.sysname, system.release);
}

std::int64_t machine_bytes() {
  return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
}

Result<bench::Wanted> wanted_of(const BenchOptions& options) {
  bench::Wanted wanted;
  KERF_TRY(wanted.suite, bench::suite_from_name(options.suite));
  wanted.path = options.path;
  KERF_TRY(wanted.levels, bench::parse_selection("--level", options.levels));
  KERF_TRY(wanted.problems, bench::parse_selection("--problems", options.problems));
  if (options.settings != "single" && options.settings != "all")
    return fail(Errc::invalid_input, fmt::format("--settings {}: choose one of: single, all", options.settings));
  wanted.every_setting = options.settings == "all";
  if (wanted.every_setting && wanted.suite == bench::Suite::kernelbench)
    return fail(Errc::invalid_input, "--settings all is for robust-kbench; KernelBench's problems have one setting");
  return wanted;
}

bench::Budget budget_of(const BenchOptions& options) {
  bench::Budget budget;
  budget.total_seconds = options.total_seconds.value_or(0);
  budget.task_evaluations = options.evaluations.value_or(0);
  budget.task_seconds = options.task_seconds.value_or(0);
  if (!options.total_seconds && !options.evaluations && !options.task_seconds) budget.task_seconds = kTaskSeconds;
  budget.stage_seconds = options.task_limit;
  budget.stage_memory_bytes = options.task_memory
                                  ? static_cast<std::int64_t>(*options.task_memory * 1e9)
                                  : static_cast<std::int64_t>(kMemoryShare * static_cast<double>(machine_bytes()));
  return budget;
}

/// What searches are told, and what is written down about them.
Result<RunConfig> config_of(const BenchOptions& options, const fs::path& folder) {
  RunConfig config;
  if (!options.target.empty()) config.target = options.target;
  KERF_TRY_VOID(check_target_name(config.target));
  if (find_target(config.target)->torch_device.empty()) {
    std::vector<std::string> others;
    for (const auto& one : target_descriptions())
      if (!one.torch_device.empty()) others.push_back(one.name);
    return fail(Errc::invalid_input, fmt::format("--target {}: PyTorch has no such device to compare with; choose one "
                                                 "of: {}",
                                                 config.target, join(others, ", ")));
  }
  config.device = options.device;
  KERF_TRY(const Settings settings, parse_settings(options.set));
  if (!settings.tunables.empty())
    return fail(Errc::invalid_input,
                fmt::format("--set {}: a search chooses tunables itself; settings have a dot: search.patience=100",
                            settings.tunables.begin()->first));
  KERF_TRY_VOID(apply_settings(settings, config.judge, &config.search));
  std::error_code error;
  config.memory =
      options.memory.empty() ? fs::absolute(folder / kOwnMemory, error).string() : kept_memory(options.memory);
  return config;
}

struct Prepared {
  bench::BenchRequest request;
  bench::RealPartsOptions parts;
};

/// Opens the target once: a device that is missing is no reason to fail a hundred problems, and whether it is the host
/// decides what may run beside a measurement.
Result<Prepared> prepare(const BenchOptions& options, const Environment& environment, Sandbox& sandbox) {
  Prepared made;
  KERF_TRY(const bench::Wanted wanted, wanted_of(options));
  KERF_TRY(made.request.problems, bench::find_problems(wanted));
  const std::string target_name = options.target.empty() ? RunConfig{}.target : options.target;
  made.request.folder = options.out.empty() ? fs::path(kRunsFolder) / fmt::format("{}-{}", options.suite, target_name)
                                            : fs::path(options.out);
  KERF_TRY_VOID(check_output_folder(made.request.folder));
  KERF_TRY(made.parts.config, config_of(options, made.request.folder));
  made.request.budget = budget_of(options);
  made.request.retry_failed = options.retry_failed;
  KERF_TRY(const Target target,
           make_target(made.parts.config.target, make_context(environment, sandbox, options.jobs), options.device));
  const DeviceFacts& device = target.device->facts();
  made.request.overlap = !device.runs_on_host;
  made.request.import_threads = std::clamp(available_cores() / 4, 1, 4);
  bench::BenchFacts& facts = made.request.facts;
  std::error_code error;
  facts.suite = wanted.suite;
  facts.path = fs::absolute(wanted.path, error);
  facts.target = made.parts.config.target;
  facts.device = options.device;
  facts.device_name = device.name;
  facts.toolchain = fmt::format("{}; {}", target.language->version(), device.driver);
  facts.host = host_words();
  facts.kerf = kKerfVersion;
  facts.seed = options.seed ? *options.seed : fresh_seed();
  facts.memory = options.memory.empty() ? "the bench's own" : options.memory;
  facts.settings = join(options.set, " ");
  made.parts.self = environment.self;
  made.parts.environment = environment.whole;
  made.parts.pytorch_device = find_target(facts.target)->torch_device;
  made.parts.compile = !options.no_compile;
  made.parts.timing_seconds = options.timing_seconds;
  return made;
}

std::string bench_end(const bench::BenchResult& result, const fs::path& folder) {
  const std::string place = folder.string();
  std::string text = fmt::format("\npage    {}/{}\ntable   {}/{}\nall     {}/{}\n", place, bench::kResultsPage, place,
                                 bench::kResultsTsv, place, bench::kResultsJson);
  const auto failed = std::count_if(result.state.records.begin(), result.state.records.end(),
                                    [](const bench::Record& one) { return one.failure != bench::Failure::none; });
  if (result.interrupted || result.out_of_time)
    text += fmt::format("go on   the same command with --out {} goes on with what is missing\n", place);
  if (failed > 0) text += "again   with --retry-failed what failed is tried once more\n";
  return text;
}

void show(const BenchOptions& options, const bench::BenchResult& result, const fs::path& folder, Console& console) {
  if (options.json) {
    console.out << bench::results_json(result.state) << std::endl;
    return;
  }
  const bench::BenchFacts& facts = result.state.facts;
  console.out << paint(fmt::format("{} on {} ({})", bench::suite_name(facts.suite), facts.target,
                                   one_line(facts.device_name)),
                       Colour::bold, console.out_style)
              << "\n"
              << bench_summary(result.state, console.out_style) << bench_end(result, folder) << std::flush;
}

}  // namespace

Status bench(const BenchOptions& options, const Environment& environment, Console& console) {
  if (options.show_only) {
    if (options.out.empty()) return fail(Errc::invalid_input, "--show needs --out FOLDER: the bench to look at");
    bench::BenchResult result;
    KERF_TRY(result.state, bench::read_state(options.out));
    show(options, result, options.out, console);
    return {};
  }
  if (options.path.empty())
    return fail(Errc::invalid_input,
                fmt::format("give --path DIR: a checkout of {}; see kerf bench --help", options.suite));
  const auto sandbox = make_sandbox();
  KERF_TRY(Prepared prepared, prepare(options, environment, *sandbox));
  const bench::BenchRequest& request = prepared.request;
  std::error_code error;
  fs::create_directories(request.folder, error);
  KERF_TRY(const auto lock, store::FolderLock::take(request.folder));
  KERF_TRY(const bench::Parts parts, bench::real_parts(prepared.parts, *sandbox));
  const InterruptGuard guard;
  SystemClock clock;
  bench::BenchResult result;
  {
    BenchView view(console, Screen{environment.err_is_terminal && !options.json, terminal_columns}, options.json);
    KERF_TRY(result, run_bench(request, parts, clock, view, interrupted()));
  }
  show(options, result, request.folder, console);
  return {};
}

}  // namespace kerf::cli
