// What experiences are worth to who writes kernels, on a made-up writer: real tasks and signatures, the real choice of
// what is shown, the real credit and the real memory, but answers that are drawn with the chances that
// tests/llm/writer.py documents. A simulation of the learner's environment: its figures say how fast the learner finds
// what helps, not how good a language model is.
//
// The truth that is to be found: a kernel helps on tasks of its own operator family when its text is a clear one, which
// a share of all kernels have (`clear`, drawn from their ids); nothing else helps. So similarity knows half of it.
//
// Every arm has a memory of its own with the same kernels and failures of all tasks. A campaign runs `rounds` times
// over the tasks, each run so many attempts: drafts until one is right, then refinements of the best up to the top of a
// ladder of five rungs; a refused answer is mended in its conversation for up to four turns. Held out: after the
// campaign, runs on each task with a memory from which everything of that task was taken out.
//
// Prints one JSON object a run: attempts to the first right kernel and to the top (budget + 1 where it was not
// reached), the share of questions with something helpful, and of all shown kernels.

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "memory/fake_memory_store.hpp"
#include "memory/memory_file.hpp"
#include "run/experience_context.hpp"
#include "run/remembering.hpp"
#include "skill/writer_chances.hpp"
#include "store/fake_run_store.hpp"
#include "task/task.hpp"

namespace {

using namespace kerf;

constexpr const char* kTarget = "processor";  // any name: nothing is built or run
constexpr int kRungs = 5, kTurns = 4, kKernelsOfTask = 6, kFailuresOfTask = 2;

/// In [0, 1), fixed by a text.
double draw(const std::string& text) { return static_cast<double>(mix64(hash64(text)) >> 11) / 9007199254740992.0; }

struct Place {
  Task task;
  memory::TaskSignature signature;
};

struct World {
  std::uint64_t seed = 0;
  double clear = 0.3;                         ///< share of kernels whose text helps
  std::map<std::string, std::string> family;  ///< of every experience, by id

  bool helps(const std::string& id, const std::string& task_family) const {
    const auto found = family.find(id);
    return found != family.end() && found->second == task_family && draw(fmt::format("clear {} {}", seed, id)) < clear;
  }
};

struct Tally {
  int first_right = 0, to_top = 0, questions = 0, helped = 0, shown = 0, helpful = 0;
};

memory::Experience made_kernel(const Place& place, int number, bool failure) {
  memory::Experience one;
  one.kind = failure ? memory::kFailureKind : memory::kKernelKind;
  one.task = place.task.name;
  one.task_id = place.task.id;
  one.signature = place.signature;
  one.outcome = failure ? "build_failed" : "measured";
  one.share = failure ? 0 : 1.0 / (1 + number);
  one.speedup = 10 * one.share;
  one.run = "before";
  set_source(one, fmt::format("kernel {} {} of {}", failure, number, place.task.name));
  one.values = first_values(one);
  one.id = experience_id(one);
  return one;
}

/// One run against the writer; what it teaches goes into `memory` when it learns.
Tally run_once(const Place& place, World& world, const std::string& arm, MemoryStore* memory, std::uint64_t seed,
               int attempts, bool learns, memory::ShownOptions options) {
  const std::string run = fmt::format("{} {} {} {}", place.task.name, arm, seed, learns);
  FakeRunStore store;
  (void)store.set("run_id", run);
  std::unique_ptr<ExperienceContext> context;
  if (memory != nullptr) {
    options.rule = memory::rule_from_name(arm).value();
    std::vector<std::string> skipped;
    context = ExperienceContext::open(*memory, place.signature, options, run, "cpp", skipped).value();
  }
  Rng rng = Rng(seed).fork(place.task.name);
  Tally tally{attempts + 1, attempts + 1, 0, 0, 0, 0};
  int best = -1, turn = 0;
  std::int64_t best_step = 0;
  bool broken = false, wrong = false;  // the last answer
  std::vector<std::string> shown;
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    const bool mends = (broken || wrong) && turn < kTurns;
    if (!mends) {
      turn = 0;
      broken = wrong = false;
      ProposalRequest request;
      request.seed = rng.bits();
      if (best >= 0) request.parent = KernelRecord{};
      shown.clear();
      if (context)
        for (const agents::ContextItem& item : context->select(request)) shown.push_back(item.id);
    }
    ++turn;
    int helpful = 0;
    for (const std::string& id : shown) {
      const std::string bare = id.substr(memory::kContextPrefix.size());
      helpful += world.helps(bare, place.signature.family) ? 1 : 0;
    }
    skill::Abilities chances = skill::writer::kBase;
    if (broken) chances = chances + skill::writer::kCompilerOutput;
    if (wrong) chances = chances + skill::writer::kWrongElements;
    if (helpful > 0) chances = chances + skill::writer::kExperience;
    tally.questions += mends ? 0 : 1;
    tally.helped += !mends && helpful > 0 ? 1 : 0;
    tally.shown += mends ? 0 : static_cast<int>(shown.size());
    tally.helpful += mends ? 0 : helpful;
    const bool compiles = skill::writer::happens(chances.compiles, rng),
               right = skill::writer::happens(chances.right, rng);
    const bool faster = skill::writer::happens(chances.faster, rng);
    const int rung = faster ? std::min(best + 1, kRungs - 1) : static_cast<int>(rng.integer(0, std::max(best, 0)));
    Step step;
    step.number = attempt;
    step.proposer = "llm";
    step.source = fmt::format("answer {} of {}", attempt, run);
    step.provenance.prompt = best >= 0 ? "refine" : "draft";
    step.provenance.context = shown;
    if (best >= 0) step.parents = {best_step};
    broken = !compiles;
    wrong = compiles && !right;
    if (broken) {
      step.evaluation.outcome = BuildFailed{"", "error"};
    } else if (wrong) {
      step.evaluation.outcome = WrongResult{Gate::values, "values differ", std::nullopt};
    } else {
      Measurement measurement;
      const double speed = std::pow(1.5, rung);
      measurement.speedup = {"naive", speed, speed, speed};
      step.evaluation.outcome = measurement;
      tally.first_right = std::min(tally.first_right, attempt);
      if (rung > best) {
        best = rung;
        best_step = attempt;
        if (best == kRungs - 1) tally.to_top = std::min(tally.to_top, attempt);
      }
    }
    if (context) context->observe(step);
    (void)store.append(step);
  }
  if (memory != nullptr && learns) {
    (void)remember(*memory, store, place.task, place.signature, nullptr, options.rule, 0);
    std::vector<std::string> skipped;
    for (const auto& one : memory->experiences(kTarget, skipped).value_or(std::vector<memory::Experience>{}))
      world.family[one.id] = one.signature.family;
  }
  return tally;
}

void print(const char* phase, const std::string& arm, const Place& place, std::uint64_t seed, int round,
           const Tally& tally) {
  std::cout << nlohmann::json{{"phase", phase},
                              {"arm", arm},
                              {"task", place.task.name},
                              {"seed", seed},
                              {"round", round},
                              {"first_right", tally.first_right},
                              {"to_top", tally.to_top},
                              {"helped", tally.questions > 0 ? double(tally.helped) / tally.questions : 0},
                              {"helpful", tally.shown > 0 ? double(tally.helpful) / tally.shown : 0}}
                   .dump()
            << "\n";
}

/// All that is known, without one task.
FakeMemoryStore without(const MemoryStore& memory, const std::string& task) {
  std::vector<std::string> skipped;
  FakeMemoryStore rest;
  auto known = memory.experiences(kTarget, skipped).value_or(std::vector<memory::Experience>{});
  std::erase_if(known, [&](const memory::Experience& one) { return one.task == task; });
  for (memory::Experience& one : known) one.source = memory.source(one.id).value_or("");
  (void)rest.add(known);
  return rest;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    std::cerr << "context_replay CLEAR ATTEMPTS ROUNDS SEEDS [SETTING=VALUE ...] [kerf] TASK.toml ...\n";
    return 2;
  }
  const double clear = std::atof(argv[1]);
  const int attempts = std::atoi(argv[2]), rounds = std::atoi(argv[3]), seeds = std::atoi(argv[4]);
  std::vector<Place> places;
  memory::ShownOptions options;
  std::vector<std::string> arms{"kerf", "similar", "published", "off"};
  const std::map<std::string, double*> settings{{"expected", &options.expected},
                                                {"doubt", &options.doubt},
                                                {"noise", &options.noise},
                                                {"other_stage", &options.other_stage},
                                                {"control", &options.control}};
  for (int i = 5; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "kerf") arms = {word};
    if (const auto at = word.find('='); at != std::string::npos && settings.contains(word.substr(0, at))) {
      *settings.at(word.substr(0, at)) = std::atof(word.c_str() + at + 1);
      continue;
    }
    auto task = load_task(argv[i]);
    if (!task || !task->graph) continue;
    Place place{*std::move(task), {}};
    DeviceFacts facts;
    facts.name = "a made-up machine";
    place.signature = signature_for(place.task, kTarget, facts);
    places.push_back(std::move(place));
  }
  for (int s = 1; s <= seeds; ++s)
    for (const std::string& arm : arms) {
      const auto seed = static_cast<std::uint64_t>(s);
      FakeMemoryStore memory;
      World world;
      world.clear = clear;
      world.seed = seed;
      for (const Place& place : places)
        for (int i = 0; i < kKernelsOfTask + kFailuresOfTask; ++i) {
          const auto one = made_kernel(place, i, i >= kKernelsOfTask);
          world.family[one.id] = place.signature.family;
          (void)memory.add({one});
        }
      MemoryStore* used = arm == "off" ? nullptr : &memory;
      for (int round = 1; round <= rounds; ++round)
        for (const Place& place : places)
          print("campaign", arm, place, seed, round,
                run_once(place, world, arm, used, 1000 * seed + static_cast<std::uint64_t>(round), attempts, true,
                         options));
      for (const Place& place : places) {
        FakeMemoryStore rest = without(memory, place.task.name);
        print("held out", arm, place, seed, 0,
              run_once(place, world, arm, arm == "off" ? nullptr : &rest, 77 + seed, attempts, false, options));
      }
    }
  return 0;
}
