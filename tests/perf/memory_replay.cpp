// What a memory is worth on a made-up machine: real tasks, real genomes of the builtin mind, the real search and the
// real memory, but times that are a formula, so that a campaign takes seconds and every kernel has a true speed. A
// simulation: its figures say how the search uses experience, not how fast kernels are.
//
// The formula: every variant of a family has a quality that all tasks of one kind of operator share, and each of its
// tunables has a best value that shifts a little from task to task with its extents. How much tasks have in common is
// the first argument, `shared` in [0, 1]: with 0 nothing that was learned on one task holds on another.
//
// Prints one JSON object a line: the evaluations that a run took until a kernel of 95 % of the best known true speed.

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "codegen/dialects/dialects.hpp"
#include "memory/fake_memory_store.hpp"
#include "memory/operators.hpp"
#include "run/remembering.hpp"
#include "search/asking.hpp"
#include "search/loop.hpp"
#include "store/fake_run_store.hpp"
#include "task/task.hpp"

namespace {

constexpr const char* kTarget = "processor";  // any name: nothing is built or run

using namespace kerf;

constexpr double kNoise = 0.02;  // relative, of one measurement

/// In [0, 1), fixed by a text.
double draw(const std::string& text) { return static_cast<double>(mix64(hash64(text)) >> 11) / 9007199254740992.0; }

struct Place {
  Task task;
  DeviceFacts facts;
  std::shared_ptr<synth::Synthesiser> synthesiser;
  memory::TaskSignature signature;
};

class Machine {
 public:
  Machine(const Place& place, double shared) : place_(place), shared_(shared) {}

  /// Log of the speed over the naive kernel.
  double log_speed(const synth::Genome& genome) const {
    const auto recipe = place_.synthesiser->recipe(genome);
    if (!recipe) return 0;
    double weights = 0, cost = 0;
    for (const memory::RecipeGene& gene : recipe->genes) {
      const double weight = static_cast<double>(gene.operators.size());
      weights += weight;
      cost += weight * std::exp(-gene_speed(gene));
    }
    // Each group more is one more pass over the data.
    return -std::log(cost / weights) - 0.25 * static_cast<double>(recipe->genes.size() - 1);
  }

 private:
  double mixed(const std::string& key) const {
    return shared_ * draw(place_.signature.family + key) + (1 - shared_) * draw(place_.task.name + key);
  }
  double gene_speed(const memory::RecipeGene& gene) const {
    const std::string name = gene.family + "/" + gene.variant;
    double speed = gene.family == "direct" ? 0.3 : 0.7 + 1.8 * mixed(name);
    for (const auto& [parameter, value] : gene.parameters) {
      const double at = std::log2(1.0 + static_cast<double>(value));
      const double best = 16 * mixed(name + parameter + " best");
      const double steep = 0.02 + 0.1 * mixed(name + parameter + " steep");
      speed -= steep * std::min(6.0, std::abs(at - best));
    }
    return speed;
  }

  const Place& place_;
  double shared_;
};

class MachineEvaluator final : public Evaluator {
 public:
  MachineEvaluator(const Machine& machine, std::uint64_t seed) : machine_(machine), rng_(seed) {}
  std::vector<double> reached;  ///< true log speed of every evaluation of the search, in order

  Result<std::optional<Inspection>> inspect(const Candidate& candidate, const Bindings& tunables) override {
    Inspection inspection;
    inspection.code = sha256_hex(candidate.source + text_of(tunables));
    inspection.descriptors = describe({}, candidate, tunables);
    return std::optional(inspection);
  }
  Result<Evaluation> evaluate(const Candidate& candidate, const Bindings& tunables, Effort effort, Observer&) override {
    const double speed = true_speed(candidate, tunables);
    if (effort == Effort::search) reached.push_back(speed);
    const double noise = effort == Effort::final ? kNoise / 4 : kNoise;
    const double ratio = std::exp(speed + noise * rng_.normal());
    Evaluation evaluation;
    evaluation.candidate = candidate.name;
    evaluation.tunables = tunables;
    Measurement measurement;
    measurement.speedup = {"naive", ratio, ratio * std::exp(-2 * noise), ratio * std::exp(2 * noise)};
    measurement.shapes.push_back({"default", 1, {1000 / ratio, 990 / ratio, 1010 / ratio, 9}, {}, {}, std::nullopt});
    evaluation.outcome = measurement;
    return evaluation;
  }
  Result<PairedOutcome> compare(const PairedKernel& ours, const PairedKernel& theirs, Effort) override {
    const double noise = kNoise / 4;
    const double ratio = std::exp(true_speed(ours.candidate, ours.tunables) -
                                  true_speed(theirs.candidate, theirs.tunables) + noise * rng_.normal());
    return PairedOutcome{std::nullopt, Speedup{"", ratio, ratio * std::exp(-2 * noise), ratio * std::exp(2 * noise)}};
  }
  Result<Tuned> tune(const Candidate&, int, std::uint64_t, const OnTrial&, const std::function<bool()>&,
                     Observer&) override {
    return fail(Errc::invalid_input, "nothing to tune: trials are left out of the simulation");
  }

  /// The genome that a source was written from, told to the evaluator when it is proposed.
  std::map<std::string, synth::Genome>* genomes = nullptr;

 private:
  static std::string text_of(const Bindings& tunables) {
    std::string text;
    for (const auto& [name, value] : tunables) text += fmt::format("{}={};", name, value);
    return text;
  }
  double true_speed(const Candidate& candidate, const Bindings& tunables) const {
    const auto found = genomes->find(candidate.source);
    if (found == genomes->end()) return 0;
    const auto genome = synth::genome_with(synth::to_json(found->second), tunables);
    return machine_.log_speed(genome ? *genome : found->second);
  }
  const Machine& machine_;
  Rng rng_;
};

/// Notes the genome of whatever another mind proposes.
class Noting final : public Proposer {
 public:
  Noting(std::unique_ptr<Proposer> mind, std::map<std::string, synth::Genome>& genomes)
      : mind_(std::move(mind)), genomes_(genomes) {}
  std::string_view name() const override { return mind_->name(); }
  std::vector<OperationInfo> operations() const override { return mind_->operations(); }
  Result<std::optional<Proposal>> propose(const ProposalRequest& request) override {
    auto proposal = mind_->propose(request);
    if (proposal && *proposal)
      if (const auto genome = synth::genome_from_json((*proposal)->genome)) genomes_[(*proposal)->source] = *genome;
    return proposal;
  }

 private:
  std::unique_ptr<Proposer> mind_;
  std::map<std::string, synth::Genome>& genomes_;
};

struct Arm {
  std::string name;  ///< "off", "kerf", "similar", "published"; "random" is a search without a memory
  MemoryStore* memory = nullptr;
};

/// True log speeds in the order of evaluation.
std::vector<double> run_once(const Place& place, const Machine& machine, const Arm& arm, std::uint64_t seed,
                             int evaluations, int starts, bool learns) {
  std::map<std::string, synth::Genome> genomes;
  memory::Recollection remembered;
  memory::RetrieveOptions options;
  if (arm.memory != nullptr) {
    options.rule = memory::rule_from_name(arm.name).value();
    std::vector<std::string> skipped;
    remembered = recall(*arm.memory, place.signature, options, seed, {}, skipped).value();
  }
  Noting memories(make_remembered(remembered_kernels(remembered, place.synthesiser.get())), genomes);
  Noting builtin(synth::make_builtin_proposer(place.synthesiser, foreseen_cell, remembered.advice), genomes);
  MachineEvaluator evaluator(machine, seed);
  evaluator.genomes = &genomes;
  FakeRunStore store;
  (void)store.set("run_id", fmt::format("{} {} {}", place.task.name, arm.name, seed));
  FakeClock clock;
  const std::atomic<bool> interrupted{false};
  SearchOptions search;
  search.search = arm.name == "random" ? "random" : "kerf";
  search.seed = seed;
  search.evaluations = evaluations;
  search.patience = 0;
  search.starts = starts;
  search.tunings = 0;
  search.finalists = 1;
  SearchInputs inputs{{&memories, &builtin}, evaluator, store, clock, interrupted};
  inputs.target = kTarget;
  NullRunObserver silent;
  const auto result = optimize(inputs, search, silent);
  KERF_CHECK(result.has_value(), result ? "" : result.error().message.c_str());
  if (arm.memory != nullptr && learns)
    (void)remember(*arm.memory, store, place.task, place.signature, place.synthesiser.get(), options.rule, 0);
  return evaluator.reached;
}

/// Two rounds over every second task; the others are held out, and nothing of them is in the memory.
void hold_campaign(const std::vector<Place>& places, std::size_t fold, double shared, const Arm& arm,
                   std::uint64_t seed) {
  constexpr int kEvaluations = 30, kStarts = 12;
  for (std::uint64_t round = 0; round < 2; ++round)
    for (std::size_t i = fold; i < places.size(); i += 2)
      run_once(places[i], Machine(places[i], shared), arm, 1000 * (round + 1) + seed, kEvaluations, kStarts, true);
}

Result<Place> open_place(const std::filesystem::path& file) {
  Place place;
  KERF_TRY(place.task, load_task(file));
  place.facts.name = "a made-up machine";
  place.facts.runs_on_host = true;
  place.facts.compute_units = 8;
  KERF_TRY(place.synthesiser, synth::Synthesiser::create(place.task, kTarget, codegen::dialects::cpp, place.facts));
  place.signature = signature_for(place.task, kTarget, place.facts);
  return place;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::cerr << "memory_replay SHARED EVALUATIONS STARTS SEEDS TASK.toml ...\n";
    return 2;
  }
  const double shared = std::atof(argv[1]);
  const int evaluations = std::atoi(argv[2]), starts = std::atoi(argv[3]), seeds = std::atoi(argv[4]);
  std::vector<Place> places;
  for (int i = 5; i < argc; ++i) {
    auto place = open_place(argv[i]);
    if (!place) {
      std::cerr << argv[i] << ": " << place.error().message << "\n";
      continue;
    }
    places.push_back(*std::move(place));
  }
  std::map<std::pair<std::string, std::string>, std::vector<std::vector<double>>> runs;  // by task and arm, per seed
  for (int seed = 1; seed <= seeds; ++seed)
    for (const std::string name : {"off", "random", "kerf", "similar", "published"})
      for (std::size_t fold = 0; fold < 2; ++fold) {
        FakeMemoryStore memory;
        const bool remembers = name != "off" && name != "random";
        if (remembers) hold_campaign(places, 1 - fold, shared, {name, &memory}, static_cast<std::uint64_t>(seed));
        for (std::size_t i = fold; i < places.size(); i += 2)
          runs[{places[i].task.name, name}].push_back(
              run_once(places[i], Machine(places[i], shared), {name, remembers ? &memory : nullptr},
                       static_cast<std::uint64_t>(seed), evaluations, starts, false));
      }
  std::map<std::string, double> best;
  for (const auto& [key, list] : runs)
    for (const auto& run : list) {
      double& known = best.try_emplace(key.first, -1e9).first->second;
      known = std::max(known, *std::max_element(run.begin(), run.end()));
    }
  for (const auto& [key, list] : runs)
    for (std::size_t seed = 0; seed < list.size(); ++seed) {
      const auto& run = list[seed];
      const double goal = best.at(key.first) + std::log(0.95);
      const auto at = std::find_if(run.begin(), run.end(), [&](double speed) { return speed >= goal; });
      std::cout << nlohmann::json{{"task", key.first},
                                  {"arm", key.second},
                                  {"seed", seed + 1},
                                  {"evaluations", at == run.end() ? evaluations + 1 : at - run.begin() + 1},
                                  {"reached", at != run.end()}}
                       .dump()
                << "\n";
    }
  return 0;
}
