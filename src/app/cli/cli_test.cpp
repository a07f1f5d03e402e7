#include "app/cli/cli.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "app/cli/commands.hpp"
#include "app/cli/host_load.hpp"
#include "app/cli/interrupt_guard.hpp"
#include "app/cli/samples.hpp"
#include "base/file.hpp"
#include "base/test_paths.hpp"
#include "base/version.hpp"

namespace kerf::cli {
namespace {

namespace fs = std::filesystem;

struct Ran {
  int code = 0;
  std::string out, err;
};

Ran kerf(const std::vector<std::string>& args) {
  std::ostringstream out, err;
  Console console{out, err, {}, {}};
  Environment environment;
  environment.cache = fs::path(testing::TempDir()) / "kerf_cli_test_cache";
  const int code = run(args, environment, console);
  return {code, out.str(), err.str()};
}

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

std::string task(const std::string& name) { return (source_folder() / ("tasks/" + name + ".toml")).string(); }

TEST(InterruptGuard, EndsAtOnceWhileThereIsNothingToKeep) {
  const auto interrupted_at_once = [] {
    const InterruptGuard guard(Results::none_yet);
    ::raise(SIGTERM);
    std::_Exit(0);
  };
  EXPECT_EXIT(interrupted_at_once(), testing::KilledBySignal(SIGTERM), "nothing was judged yet");
  const auto with_results = [] {
    const InterruptGuard guard(Results::none_yet);
    InterruptGuard::keep_results();
    ::raise(SIGTERM);
    std::_Exit(interrupted() ? 7 : 0);
  };
  EXPECT_EXIT(with_results(), testing::ExitedWithCode(7), "stopping after the current kernel");
}

TEST(CommandLine, TeachesByExample) {
  const auto help = kerf({"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_HAS(help.out, "kerf eval tasks/softmax.toml mine.cpp");
  EXPECT_EQ(help.out.find("worker"), std::string::npos);
  EXPECT_HAS(kerf({"eval", "--help"}).out, "--no-cache");
  EXPECT_EQ(kerf({}).code, kMisuse);
}

TEST(CommandLine, HelpFitsAHundredColumnsAndANarrowTerminal) {
  for (const char* command : {"", "eval", "tune", "optimize", "campaign", "memory", "export", "prove", "doctor"})
    for (const std::size_t columns : {0, 80}) {
      std::ostringstream out, err;
      Console console{out, err, {false, false, columns}, {}};
      std::vector<std::string> args;
      if (*command != 0) args.emplace_back(command);
      args.emplace_back("--help");
      EXPECT_EQ(run(args, Environment{}, console), 0);
      std::istringstream lines(out.str());
      for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), columns == 0 ? 100 : columns) << line;
    }
}

TEST(CommandLine, TellsItsVersion) {
  EXPECT_EQ(kerf({"--version"}).out, std::string("kerf ") + kKerfVersion + "\n");
  EXPECT_EQ(kerf({"--version"}).code, 0);
}

TEST(CommandLine, NamesTheNearestCommandOptionAndTarget) {
  const auto command = kerf({"evla", "t.toml"});
  EXPECT_EQ(command.code, kMisuse);
  EXPECT_HAS(command.err, "kerf: error: unknown command 'evla' (did you mean 'eval'?)");
  const auto option = kerf({"eval", "--jsn", "t.toml"});
  EXPECT_EQ(option.code, kMisuse);
  EXPECT_HAS(option.err, "unknown option '--jsn' (did you mean '--json'?)");
  const auto target = kerf({"eval", task("gelu"), "k.cpp", "--target", "cudda"});
  EXPECT_EQ(target.code, kMisuse);
  EXPECT_HAS(target.err, "unknown target 'cudda' (did you mean 'cuda'?)");
}

TEST(CommandLine, ATaskNameAloneIsRecognised) {
  const auto named = kerf({"check", "softmax"});
  EXPECT_EQ(named.code, kMisuse);
  EXPECT_HAS(named.err, "softmax");
  EXPECT_HAS(named.err, "(did you mean '");
  EXPECT_HAS(kerf({"check", "no/such/softmx"}).err, "(did you mean 'sample:softmax'?)");
  EXPECT_HAS(kerf({"check", task("geluu")}).err, "/gelu.toml'?)");
  EXPECT_HAS(kerf({"eval", (source_folder() / "tests/hostile/cpu/abort.cpp").string(), task("gelu")}).err,
             "the task comes before kernels");
}

TEST(CommandLine, KernelsArePrintedForTheProcessorUnlessATargetIsNamed) {
  for (const auto* command : {"naive", "synth"}) {
    const auto printed = kerf({command, task("gelu")});
    EXPECT_EQ(printed.code, 0) << printed.err;
    EXPECT_EQ(printed.out, kerf({command, task("gelu"), "--target", default_target()}).out);
    EXPECT_HAS(kerf({command, "--help"}).out, "(default: cpu)");
  }
  EXPECT_HAS(kerf({"synth", task("gelu"), "--assume", "gpu.json"}).err, "give its --target, one of: cpu, opencl, cuda");
}

TEST(CommandLine, PlansForADeviceThatIsNotHere) {
  const std::string file = testing::TempDir() + "kerf_assumed_device.json";
  const auto plan = [&](const std::string& text) {
    std::ofstream(file) << text;
    return kerf({"synth", task("matmul"), "--target", "cuda", "--json", "--count", "2", "--assume", file});
  };
  const auto known = plan(R"({"compute_units": 132, "rates": {"fma_f32": 64e12, "tensor_f16": 929e12}})");
  EXPECT_EQ(known.code, 0) << known.err;
  EXPECT_HAS(known.out, "\"variant\": \"tensor_split_f16\"");
  EXPECT_HAS(known.out, "\"bytes_read\"");
  const auto without = plan(R"({"lacks": ["matrix_units", "warpgroup_matrix_units"]})");
  EXPECT_EQ(without.out.find("tensor_split"), std::string::npos);
  EXPECT_HAS(plan(R"({"compute_unit": 132})").err, "did you mean 'compute_units'?");
  EXPECT_EQ(plan("[]").code, kMisuse);
  EXPECT_HAS(plan(R"({"compute_units": "many"})").err, "a value has the wrong type");
  std::filesystem::remove(file);
}

TEST(CommandLine, SaysWhatAnOptionTakes) {
  EXPECT_HAS(kerf({"optimize", task("gelu"), "--evals", "abc"}).err,
             "expected a whole number from 0 to 10000000, not 'abc'");
  EXPECT_HAS(kerf({"optimize", task("gelu"), "--evals", "-1"}).err, "not '-1'");
}

TEST(HostLoad, OnlyABusyMachineIsToldOf) {
  EXPECT_EQ(busy_words(std::nullopt), "");
  EXPECT_EQ(busy_words(0.1), "");
  EXPECT_HAS(busy_words(0.97), "other programs use 97 % of the cores");
}

TEST(CommandLine, SaysWhatIsMissing) {
  const auto kernel = kerf({"eval", task("gelu")});
  EXPECT_EQ(kernel.code, kMisuse);
  EXPECT_HAS(kernel.err, "KERNEL");
  EXPECT_HAS(kernel.err, "see kerf eval --help");
  const auto file = kerf({"check", "no_such.toml"});
  EXPECT_EQ(file.code, kMisuse);
  EXPECT_HAS(file.err, "there is no task file 'no_such.toml'");
  const auto source = kerf({"eval", task("gelu"), "no_such.cpp"});
  EXPECT_EQ(source.code, kMisuse);
  EXPECT_HAS(source.err, "there is no kernel file 'no_such.cpp'");
}

TEST(CommandLine, RefusesUnknownSettingsAndTunables) {
  const std::string kernel = (source_folder() / "tasks/cpp_reference/separable.cpp").string();
  const auto setting = kerf({"eval", task("cpp_reference/box_filter"), kernel, "--set", "measure.max_round=3"});
  EXPECT_EQ(setting.code, kMisuse);
  EXPECT_HAS(setting.err, "did you mean 'measure.max_rounds'?");
  const auto tunable = kerf({"eval", task("cpp_reference/box_filter"), kernel, "--set", "BLOCK=3"});
  EXPECT_EQ(tunable.code, kMisuse);
  EXPECT_HAS(tunable.err, "no kernel has a tunable 'BLOCK'");
  EXPECT_HAS(kerf({"eval", task("gelu"), kernel, "--set", "BLOCK"}).err, "expected NAME=VALUE");
  EXPECT_HAS(kerf({"eval", task("gelu"), kernel, "--set", "measure.max_rounds=-4"}).err, "expected a number");
}

TEST(CommandLine, ListsTasks) {
  const auto listed = kerf({"tasks", (source_folder() / "tasks").string()});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_HAS(listed.out, "causal_attention");
  EXPECT_HAS(listed.out, "box_filter");
  EXPECT_EQ(kerf({"tasks", "/no/such/folder"}).code, kMisuse);
}

TEST(Eval, RejectsAKernelWithABadHeaderAsData) {
  const auto path = std::filesystem::path(testing::TempDir()) / "kerf_cli_bad_header.cpp";
  ASSERT_TRUE(write_file_atomic(path, "/* kerf\nlunch: k<<<1, 1>>>(x, y)\n*/\n"));
  const auto ran = kerf({"eval", task("gelu"), path.string(), "--json"});
  std::filesystem::remove(path);
  EXPECT_EQ(ran.code, kJudged) << ran.err;
  EXPECT_HAS(ran.out, "\"outcome\":\"rejected\",\"gate\":\"parse\"");
  EXPECT_HAS(ran.out, "did you mean 'launch'?");
}

TEST(CommandLine, CarriesTheSamplesWithIt) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "kerf_samples";
  std::filesystem::remove_all(folder);
  const auto listed = kerf({"tasks"});
  EXPECT_EQ(listed.code, 0) << listed.err;
  EXPECT_HAS(listed.out, "sample:softmax");
  EXPECT_HAS(listed.out, "sample:cpp_reference/box_filter");
  EXPECT_EQ(kerf({"tasks", "--write", folder.string()}).code, 0);
  EXPECT_EQ(read_file(folder / "softmax.toml").value(), read_file(task("softmax")).value());
  EXPECT_EQ(kerf({"tasks", "--write", folder.string()}).code, 0) << "again is fine";
  ASSERT_TRUE(write_file_atomic(folder / "softmax.toml", "mine"));
  EXPECT_HAS(kerf({"tasks", "--write", folder.string()}).err, "softmax.toml exists and differs");
  EXPECT_EQ(read_file(folder / "softmax.toml").value(), "mine");
  std::filesystem::remove_all(folder);
  EXPECT_HAS(kerf({"check", "sample:softmx"}).err, "did you mean 'softmax'?");
}

TEST(CommandLine, EveryFileOfTheSamplesIsInside) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_folder() / "tasks")) {
    if (entry.path().extension() != ".toml") continue;
    const auto name = std::filesystem::relative(entry.path(), source_folder() / "tasks");
    const auto text = read_sample((name.parent_path() / name.stem()).string());
    ASSERT_TRUE(text) << name << ": " << text.error().message;
    EXPECT_EQ(text->task.id, read_task(entry.path()).value().task.id) << name;
  }
}

TEST(CommandLine, WritesATaskToStartFrom) {
  const auto file = std::filesystem::path(testing::TempDir()) / "kerf_new_task.toml";
  std::filesystem::remove(file);
  EXPECT_EQ(kerf({"new", file.string()}).code, 0);
  const auto made = read_task(file);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->task.name, "kerf_new_task");
  EXPECT_HAS(kerf({"new", file.string()}).err, "exists; choose another name");
  EXPECT_EQ(kerf({"new", "a b"}).code, kMisuse);
  std::filesystem::remove(file);
}

TEST(CommandLine, ListsItsSettings) {
  EXPECT_HAS(kerf({"settings"}).out, "search.patience");
  EXPECT_HAS(kerf({"settings", "--json"}).out, "\"name\":\"measure.max_rounds\",\"default\":60");
}

TEST(Eval, StrictFailsForAKernelThatDoesNotPass) {
  const auto path = std::filesystem::path(testing::TempDir()) / "kerf_cli_strict.cpp";
  ASSERT_TRUE(write_file_atomic(path, "/* kerf\nlunch: k<<<1, 1>>>(x, y)\n*/\n"));
  const auto ran = kerf({"eval", task("gelu"), path.string(), "--json", "--strict"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_HAS(ran.out, "\"outcome\":\"rejected\"");
  EXPECT_HAS(ran.err, "kerf_cli_strict.cpp does not pass (rejected)");
  EXPECT_EQ(kerf({"eval", task("gelu"), path.string(), "--at-least", "2"}).code, kMisuse);
  std::filesystem::remove(path);
}

TEST(CommandLine, TakesOptionsOfTheProgramBeforeTheCommand) {
  const auto before = kerf({"--nvrtc", "/some/folder", "tasks", (source_folder() / "tasks").string()});
  EXPECT_EQ(before.code, 0) << before.err;
  EXPECT_EQ(kerf({"tasks", (source_folder() / "tasks").string(), "--nvrtc", "/some/folder"}).code, 0);
  EXPECT_HAS(kerf({"--nvrtc", "/some/folder", "taks"}).err, "did you mean 'tasks'?");
  EXPECT_HAS(kerf({"--nvrt", "/some/folder", "tasks"}).err, "did you mean '--nvrtc'?");
}

TEST(Style, IsPlainOffTerminalsAndWhenColourIsUnwanted) {
  Environment environment;
  environment.variables = {{"LANG", "C.UTF-8"}};
  EXPECT_TRUE(style_for(environment, true).colour);
  EXPECT_TRUE(style_for(environment, true).unicode);
  EXPECT_FALSE(style_for(environment, false).colour);
  environment.variables["NO_COLOR"] = "1";
  EXPECT_FALSE(style_for(environment, true).colour);
  environment.variables = {{"LANG", "C"}, {"TERM", "dumb"}};
  EXPECT_FALSE(style_for(environment, true).colour);
  EXPECT_FALSE(style_for(environment, true).unicode);
}

}  // namespace
}  // namespace kerf::cli
