// Every kernel family on every target: compositions that the builtin mind starts with, and some that it draws at
// random, pass the judge's verification on every shape of every case. Every case has one start; further ones are tried
// where they have a variant of a family that few compositions had so far, so that each variant is tried on several
// cases. With KERF_THOROUGH=1 in the environment it is every start and more random ones. A case is an ordinary task
// file in cases/; a new one needs no C++. Without a GPU, CUDA compositions are compiled only.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <map>
#include <set>

#include "../../target_environment.hpp"
#include "base/test_paths.hpp"
#include "build/build.hpp"
#include "judge/judge.hpp"
#include "propose/synth/synthesiser.hpp"
#include "target/target.hpp"
#include "task/task.hpp"

namespace kerf {
namespace {

/// How many of a task's compositions are looked at, and how often each variant shall be tried on a target.
struct Extent {
  std::size_t starts = 6;
  int random = 1;
  int tries = 4;
};
Extent extent_for(const Target& target) {
  if (std::getenv("KERF_THOROUGH") != nullptr) return {100, 4, std::numeric_limits<int>::max()};
  if (target.device == nullptr) return {4, 0};
  // A driver that compiles for the host (PoCL) takes a second per kernel.
  if (target.device->facts().runs_on_host && !target.language->dialect().host_entry) return {4, 0, 1};
  return {};
}

/// How often each variant of a family was tried so far, on one target.
class Tried {
 public:
  /// Counts the composition when it has a variant that was tried fewer than `tries` times.
  bool take(const synth::Genome& genome, int tries) {
    std::set<std::string> variants;
    for (const synth::Gene& gene : genome.genes) variants.insert(gene.family + "/" + gene.variant);
    if (std::ranges::none_of(variants, [&](const std::string& variant) { return times_[variant] < tries; }))
      return false;
    for (const std::string& variant : variants) ++times_[variant];
    return true;
  }

 private:
  std::map<std::string, int> times_;
};

/// Targets are started once per test program; what could not be started keeps its reason.
class Machine {
 public:
  Machine()
      : sandbox_(make_sandbox()),
        cache_(std::filesystem::temp_directory_path() / "kerf_family_conformance"),
        builds_(cache_) {}

  Result<Target*> target(const std::string& name) {
    if (auto known = targets_.find(name); known != targets_.end())
      return known->second ? Result<Target*>(&*known->second) : fail(Errc::unavailable, known->second.error().message);
    TargetResources context;
    context.self = kerf_program();
    context.cache = cache_;
    context.sandbox = sandbox_.get();
    context.secret = 12345;
    context.environment = target_environment();
    auto made = make_target(name, context);
    if (!made) made = make_target(name, context, "", true);
    targets_.emplace(name, std::move(made));
    return target(name);
  }
  BuildCache& builds() { return builds_; }
  Tried& tried(const std::string& target) { return tried_[target]; }

 private:
  std::unique_ptr<Sandbox> sandbox_;
  std::filesystem::path cache_;
  BuildCache builds_;
  std::map<std::string, Result<Target>> targets_;
  std::map<std::string, Tried> tried_;
};

Machine& machine() {
  static Machine instance;  // a fixture of this program, so that workers are not started per case
  return instance;
}

/// What is tried of a case: one start, which one depends on its name, and what `tried` lacks.
std::vector<synth::Genome> genomes_of(const synth::Synthesiser& synthesiser, const Extent& extent,
                                      const std::string& name, Tried& tried) {
  std::vector<synth::Genome> all = synthesiser.starts();
  all.resize(std::min(all.size(), extent.starts));
  std::swap(all.front(), all[name.size() % std::min<std::size_t>(all.size(), 3)]);
  Rng rng(7);
  for (int n = 0; n < extent.random; ++n) all.push_back(synthesiser.random(rng));
  std::vector<synth::Genome> kept;
  for (const synth::Genome& genome : all)
    if (tried.take(genome, kept.empty() ? std::numeric_limits<int>::max() : extent.tries)) kept.push_back(genome);
  return kept;
}

void compiles(Target& target, const Task& task, const Candidate& candidate) {
  for (const ShapeSet& shape : shapes_for(task, target.name)) {
    Bindings constants = shape.symbols;
    for (const Tunable& tunable : candidate.tunables) constants[tunable.name] = tunable.values.front();
    const auto built = machine().builds().compile(*target.language, make_request(candidate, constants, "sm_90"));
    ASSERT_TRUE(built) << built.error().message;
    EXPECT_TRUE(std::holds_alternative<Artifact>(*built)) << candidate.name << "\n"
                                                          << std::get<CompileFailed>(*built).log << "\n"
                                                          << candidate.source;
  }
}

using Param = std::pair<std::filesystem::path, std::string>;
class FamilyConformance : public testing::TestWithParam<Param> {};

TEST_P(FamilyConformance, SampledCompositionsPassVerification) {
  const auto& [path, name] = GetParam();
  const auto task = load_task(path);
  ASSERT_TRUE(task) << task.error().message;
  const auto target = machine().target(name);
  if (!target) GTEST_SKIP() << name << ": " << target.error().message;
  const codegen::DialectTraits& dialect = (*target)->language->dialect();
  if (dialect.layer.empty()) GTEST_SKIP() << "no builtin kernel is written in " << dialect.language;
  const bool on_device = (*target)->device != nullptr;
  const DeviceFacts facts = on_device ? (*target)->device->facts() : DeviceFacts{};
  const auto synthesiser = synth::Synthesiser::create(*task, name, dialect, facts);
  ASSERT_TRUE(synthesiser) << synthesiser.error().message;

  SystemClock clock;
  NullObserver quiet;
  JudgeOptions options;
  options.skip_timing = true;
  std::unique_ptr<Judge> judge;
  if (on_device) {
    auto opened = Judge::open(*task, {**target, nullptr, machine().builds(), clock}, options, quiet);
    ASSERT_TRUE(opened) << opened.error().message;
    judge = *std::move(opened);
  }
  int accepted = 0;
  for (const synth::Genome& genome :
       genomes_of(**synthesiser, extent_for(**target), task->name, machine().tried(name))) {
    SCOPED_TRACE((*synthesiser)->describe(genome) + " " + to_json(genome));
    const auto candidate = (*synthesiser)->render(genome);
    ASSERT_TRUE(candidate) << candidate.error().message;
    const Status fits = check_against(*task, *candidate);
    ASSERT_TRUE(fits) << fits.error().message << "\n" << candidate->source;
    if (!on_device) {
      compiles(**target, *task, *candidate);
      ++accepted;
      continue;
    }
    const auto tunables = resolve_tunables(*candidate, {});
    ASSERT_TRUE(tunables) << tunables.error().message;
    const auto evaluation = judge->evaluate(*candidate, *tunables, quiet);
    ASSERT_TRUE(evaluation) << evaluation.error().message;
    EXPECT_EQ(outcome_name(evaluation->outcome), "measured")
        << outcome_gate(evaluation->outcome) << ": " << outcome_message(evaluation->outcome) << "\n"
        << candidate->source;
    ++accepted;
  }
  EXPECT_GT(accepted, 0);
  if (!on_device) GTEST_SKIP() << accepted << " compositions compile; there is no device here to run them";
}

std::vector<Param> params() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_folder() / "tests/conformance/families/cases"))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Param> all;
  for (const auto& file : files)
    for (const std::string& target : target_names()) all.emplace_back(file, target);
  return all;
}

std::string name_of(const testing::TestParamInfo<Param>& info) {
  return info.param.first.stem().string() + "_" + info.param.second;
}
INSTANTIATE_TEST_SUITE_P(Cases, FamilyConformance, testing::ValuesIn(params()), name_of);

}  // namespace
}  // namespace kerf
