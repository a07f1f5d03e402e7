#include "app/cli/cli.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <span>

#include "app/cli/define_commands.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "bench/real_parts.hpp"

namespace kerf::cli {
namespace {

constexpr const char* kIntroduction =
    R"(Kerf judges compute kernels: it builds a kernel, proves it right, times it, and says how close to the
hardware's limit it runs. Kernels are untrusted: they run in a sandbox and cannot fool the clock or the check.)";

constexpr const char* kExamples = R"(First steps:
  kerf doctor                                      what works on this machine, and how to get the rest
  kerf doctor --calibrate                          measure the machine's peaks once (for '% of speed of light')
  kerf tasks                                       the sample tasks
  kerf optimize sample:softmax                     find a fast kernel of one of them
  kerf new my_task                                 write a task to start from
  kerf check tasks/softmax.toml                    what a task asks for and what it costs at least
  kerf naive tasks/softmax.toml --target cpu       a plain kernel to start from
  kerf optimize tasks/rmsnorm.toml                 find a fast kernel
  kerf check model.py                              a PyTorch module as a task: what it has, what stays with PyTorch
  kerf optimize model.py                           find fast kernels of it
  kerf eval tasks/softmax.toml mine.cpp            judge a kernel
  kerf eval tasks/softmax.toml a.cu b.cu --json    judge several, one JSON object a line
  kerf eval tasks/matmul.toml k.cl --set TILE=32   choose a tunable's value
  kerf tune tasks/matmul.toml k.cl --out best.cl   find the best values of all tunables
  kerf compare tasks/matmul.toml a.cl b.cl         time two kernels in turn
  kerf campaign tasks/*.toml                       search for all of them; each begins with what the others taught
  kerf bench kernelbench --path DIR --level 1      search for a whole benchmark, score it beside PyTorch
  kerf memory stats                                what was learned so far
  kerf skills list                                 advice that was shown to help, and candidates
  kerf runs                                        what was searched for here
  kerf show softmax-cpu                            what a run found (the beginning of its name is enough)
  kerf explain softmax-cpu best                    how its winner came about
  kerf report softmax-cpu                          the same as a page to look at
  kerf export softmax-cpu --format cmake           its winner as files that need no Kerf
  kerf prove softmax-cpu                           all that is needed to check the winner again

A kernel says in a comment how it is run (docs/formats.md):
  /* kerf
  target:  opencl
  tune:    BLOCK = {64, 128, 256}
  launch:  softmax<<<rows, BLOCK>>>(x, y)
  */

Exit codes: 0 judged, whatever the verdict; 2 misuse or bad input; 1 the environment failed (or eval --strict refused);
3 prove --check found the kernel right and could not check its speed.)";

/// The long names of the options of a command and of the program itself.
std::vector<std::pair<std::string, const CLI::Option*>> long_options(const CLI::App& app, const CLI::App& scope) {
  std::vector<std::pair<std::string, const CLI::Option*>> found;
  for (const auto* place : {&scope, &app}) {
    for (const auto* option : place->get_options())
      for (const auto& name : option->get_lnames()) found.emplace_back("--" + name, option);
    if (&scope == &app) break;
  }
  return found;
}

/// Unknown commands and options, with the nearest known one; the parser's own words name none. Options of the program
/// may stand before the command, with a value.
Status check_words(const CLI::App& app, const std::vector<std::string>& args) {
  const CLI::App* scope = &app;
  for (std::size_t i = 0; i < args.size() && args[i] != "--"; ++i) {
    const std::string& arg = args[i];
    if (arg.empty()) return fail(Errc::invalid_input, "there is an empty argument; is a variable of the shell unset?");
    if (!arg.starts_with('-')) {
      if (scope != &app) continue;
      std::vector<std::string> names;
      for (const auto* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
      if (std::find(names.begin(), names.end(), arg) == names.end())
        return fail(Errc::invalid_input, fmt::format("unknown command '{}'{}; choose one of: {} (see kerf --help)", arg,
                                                     did_you_mean(arg, names), join(names, ", ")));
      scope = app.get_subcommand(arg);
    } else if (arg.starts_with("--")) {
      const auto known = long_options(app, *scope);
      const std::string name = arg.substr(0, arg.find('='));
      const auto option = std::find_if(known.begin(), known.end(), [&](const auto& one) { return one.first == name; });
      if (option != known.end()) {
        const bool apart = arg.size() == name.size() && option->second->get_items_expected_min() > 0;
        if (apart) ++i;  // its value
        if (arg == name + "=" || (apart && i < args.size() && args[i].empty()))
          return fail(Errc::invalid_input,
                      fmt::format("{} has an empty value; is a variable of the shell unset?", name));
        continue;
      }
      std::vector<std::string> names;
      for (const auto& one : known)
        if (std::find(names.begin(), names.end(), one.first) == names.end()) names.push_back(one.first);
      return fail(Errc::invalid_input, fmt::format("unknown option '{}'{}; choose one of: {}", name,
                                                   did_you_mean(name, names), join(names, ", ")));
    }
  }
  return {};
}

int exit_code(const Error& error) {
  return error.code == Errc::invalid_input || error.code == Errc::not_found ? kMisuse : kEnvironment;
}

Status dispatch(const CLI::App& app, const Options& options, const Environment& environment, Console& console) {
  if (app.got_subcommand("eval")) return eval(options.eval, environment, console);
  if (app.got_subcommand("compare")) return compare(options.compare, environment, console);
  if (app.got_subcommand("new")) return new_task(options.made, environment, console);
  if (app.got_subcommand("runs")) return runs(options.runs, environment, console);
  if (app.got_subcommand("tune")) return tune_kernel(options.tune, environment, console);
  if (app.got_subcommand("optimize")) return optimize(options.optimize, environment, console);
  if (app.got_subcommand("check")) return check(options.check, environment, console);
  if (app.got_subcommand("tasks")) return tasks(options.tasks, environment, console);
  if (app.got_subcommand("settings")) return settings(options.settings, environment, console);
  if (app.got_subcommand("doctor")) return doctor(options.doctor, environment, console);
  if (app.got_subcommand("synth")) return synth(options.synth, environment, console);
  if (app.got_subcommand("show")) {
    ShowOptions chosen = options.show;
    chosen.source = app.get_subcommand("show")->count("--source") > 0;
    return show(chosen, environment, console);
  }
  if (app.got_subcommand("report")) return report(options.report, environment, console);
  if (app.got_subcommand("export")) return export_run(options.exported, environment, console);
  if (app.got_subcommand("prompts")) return prompts(options.prompts, environment, console);
  if (app.got_subcommand("traces")) return traces(options.traces, environment, console);
  if (app.got_subcommand("memory")) return memory_command(options.memory, environment, console);
  if (app.got_subcommand("skills")) return skills_command(options.skills, environment, console);
  if (app.got_subcommand("campaign")) return campaign(options.campaign, environment, console);
  if (app.got_subcommand("bench")) return bench(options.bench, environment, console);
  if (app.got_subcommand("explain")) return explain(options.explain, environment, console);
  return naive(options.naive, environment, console);
}

/// As wide as the terminal; 100 columns elsewhere.
std::string help_text(const CLI::App& app, const Console& console) {
  constexpr std::size_t kElsewhere = 100;
  return wrapped(app.help(), console.out_style.columns > 0 ? console.out_style.columns : kElsewhere);
}

int run_worker(const std::vector<std::string>& args) {
  if (args.size() < 2) return kMisuse;
  return worker_main(args[1], std::span(args).subspan(2));
}

int run_bench_search(const std::string& folder, const Environment& environment, Console& console) {
  const Status done = bench_search(folder, environment, console);
  if (!done) console.err << done.error().message << std::flush;
  return done ? kJudged : exit_code(done.error());
}

}  // namespace

int run(const std::vector<std::string>& args, const Environment& environment, Console& console) {
  if (!args.empty() && args[0] == "worker") return run_worker(args);
  if (args.size() == 2 && args[0] == bench::kSearchCommand) return run_bench_search(args[1], environment, console);

  CLI::App app(kIntroduction, "kerf");
  app.footer(kExamples);
  app.get_formatter()->label("REQUIRED", "");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Subcommands", "Commands");
  app.set_version_flag("--version", std::string("kerf ") + kKerfVersion);
  app.require_subcommand(1);
  app.fallthrough();
  Options options;
  define_commands(app, options);

  if (args.empty()) {
    console.out << help_text(app, console) << std::flush;
    return kMisuse;
  }
  if (auto status = check_words(app, args); !status) {
    console.err << error_text(status.error(), console.err_style);
    return kMisuse;
  }
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::CallForHelp&) {
    console.out << help_text(app, console) << std::flush;
    return kJudged;
  } catch (const CLI::Success& asked) {  // --version
    return app.exit(asked, console.out, console.err);
  } catch (const CLI::ParseError& error) {
    std::string command;
    for (const auto* chosen : app.get_subcommands()) command = " " + chosen->get_name();
    console.err << error_text({Errc::invalid_input, fmt::format("{}; see kerf{} --help", error.what(), command)},
                              console.err_style);
    return kMisuse;
  }
  Environment effective = environment;
  if (!options.python.empty()) effective.whole["KERF_PYTHON"] = options.python;
  if (!options.nvrtc.empty()) effective.variables["KERF_NVRTC"].insert(0, options.nvrtc + ":");
  const Result<int> code = app.got_subcommand("prove")
                               ? prove(options.proved, effective, console)
                               : dispatch(app, options, effective, console).transform([] { return kJudged; });
  if (code) return *code;
  console.out << std::flush;
  console.err << error_text(code.error(), console.err_style) << std::flush;
  return exit_code(code.error());
}

}  // namespace kerf::cli
