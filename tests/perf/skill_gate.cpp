// How well do gates tell skills that help from others? Planted good, inert and harmful skills, answers with the chances
// of tests/llm/writer.py: a simulation of the learner's environment. A few minutes.
//     ninja -C build/release skill_gate && build/release/tests/perf/skill_gate [SKILLS]

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "skill/simulated_writer.hpp"

namespace {

using namespace kerf::skill;

/// A share with its 95 % interval (Wilson).
std::string share(int hits, int all) {
  if (all == 0) return "none";
  constexpr double z = 1.96;
  const double n = all, p = hits / n, centre = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", p, std::max(centre - half, 0.0), std::min(centre + half, 1.0));
}

/// Geometric means over conversations with one kind of prompt, and how much fewer answers that is than with the usual.
void print_answers(const std::string& prompt, const Abilities& chances, int conversations) {
  constexpr int kMost = 200;
  double right = 0, top = 0, right_before = 0, top_before = 0;
  kerf::Rng rng(1), usual(2);
  for (int i = 0; i < conversations; ++i) {
    const Answers taken = answers_taken(chances, kMost, rng), before = answers_taken(writer::kBase, kMost, usual);
    right += std::log(taken.to_right), top += std::log(taken.to_top);
    right_before += std::log(before.to_right), top_before += std::log(before.to_top);
  }
  fmt::print("| {} | {:.2f} | {:.2f} | {:.0f} % |\n", prompt, std::exp(right / conversations),
             std::exp(top / conversations), 100 * (1 - std::exp((top - top_before) / conversations)));
}

void print_row(const std::string& gate, int skills, int good, int inert, int harmful) {
  fmt::print("| {} | {} | {} | {} | {} |\n", gate, share(good, skills), share(inert, skills), share(harmful, skills),
             share(good, good + inert + harmful));
}

}  // namespace

int main(int count, char** words) {
  const int skills = count > 1 ? std::atoi(words[1]) : 400;
  if (skills < 1 || skills > 1000) {
    fmt::print(stderr, "usage: skill_gate [SKILLS], from 1 to 1000 of each kind\n");
    return 2;
  }
  const std::vector<GateTask> tasks{{"a", false}, {"b", false}, {"c", false}, {"d", true}};
  fmt::print("SIMULATION, {} skills of each kind, 95 % intervals\n\n", skills);
  fmt::print(
      "| gate | good ones admitted | inert ones admitted | harmful ones admitted | precision "
      "|\n|---|---|---|---|---|\n");
  Admitted good, inert, harmful;
  for (const int samples : {12, 20, 40}) {
    GateOptions options;
    options.most = samples;
    options.resamples = 500;
    good = admitted(tasks, Planted::good, skills, options);
    inert = admitted(tasks, Planted::inert, skills, options);
    harmful = admitted(tasks, Planted::harmful, skills, options);
    print_row(fmt::format("three arms, {} samples", samples), skills, good.three_arms, inert.three_arms,
              harmful.three_arms);
  }
  print_row("one sample, as published", skills, good.one_sample, inert.one_sample, harmful.one_sample);
  constexpr int kConversations = 20'000;
  fmt::print("\n| prompt | answers to the first right kernel | to the fastest | saved |\n|---|---:|---:|---:|\n");
  print_answers("neither skill nor section", writer::kBase, kConversations);
  print_answers("the helpful skill", writer::kBase + writer::kSkill, kConversations);
  print_answers("the good section", writer::kBase + writer::kGoodSection, kConversations);
  print_answers("both", writer::kBase + writer::kSkill + writer::kGoodSection, kConversations);
  print_answers("the harmful section", writer::kBase + writer::kHarmfulSection, kConversations);
}
