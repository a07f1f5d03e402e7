#include "app/cli/bench_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/cli/run_text.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "bench/scores.hpp"

namespace kerf::cli {
namespace {

using bench::Failure;
using bench::Record;
using bench::Score;
using bench::ScoreSet;
using bench::SpeedRatio;

constexpr std::size_t kNameColumns = 26, kSummaryColumns = 80, kShown = 5, kRankedName = 24, kRankedKernel = 14;

std::string in_percent(double fraction) { return fmt::format("{:.0f} %", 100 * fraction); }
std::string plain_ratio(double ratio) {
  return fmt::format("{:.{}f}", ratio, ratio < 9.995 ? 2 : ratio < 99.95 ? 1 : 0);
}

/// "1/23 Softmax": the number stands in the id already.
std::string problem_words(const bench::Problem& problem) {
  std::string name = problem.name;
  const auto line = name.find('_');
  if (line != std::string::npos && name.find_first_not_of("0123456789") == line) name.erase(0, line + 1);
  std::replace(name.begin(), name.end(), '_', ' ');
  return problem_id(problem) + " " + one_line(trim(name));
}

std::string ratio_words(const std::optional<SpeedRatio>& ratio) {
  if (!ratio) return "-";
  std::string text = plain_ratio(ratio->ratio) + "x";
  if (ratio->low > 0 && ratio->high > 0)
    text += fmt::format(" ({} to {})", plain_ratio(ratio->low), plain_ratio(ratio->high));
  return text;
}

std::string first_line(const std::string& message) { return one_line(message.substr(0, message.find('\n'))); }

/// The message without the path in front of it, which is long and says what the row says already.
std::string short_reason(const Record& record) {
  std::string text = first_line(record.message);
  if (const auto at = text.find(".py:"); at != std::string::npos && text.find(' ') > at) {
    text.erase(0, at + 4);
    const auto line = text.find_first_not_of("0123456789");
    if (line != std::string::npos && line > 0 && text[line] == ':') text = "line " + text;
  }
  return std::string(trim(text));
}

std::vector<Cell> score_row(const std::string& name, const Score& score, Colour colour) {
  const auto right = [&](std::string text) { return Cell{std::move(text), colour, true}; };
  return {{name, colour},
          right(fmt::format("{} of {}", score.correct, score.tasks)),
          right(in_percent(score.fast_1)),
          right(in_percent(score.fast_1_2)),
          right(in_percent(score.fast_2)),
          right(plain_ratio(score.geometric_mean))};
}

std::string set_text(const ScoreSet& set, const Style& style) {
  std::vector<std::vector<Cell>> rows{{{set.level < 0 ? "all levels" : bench::level_words(set.level), Colour::bold},
                                       {"correct", Colour::dim, true},
                                       {"fast_1", Colour::dim, true},
                                       {"fast_1.2", Colour::dim, true},
                                       {"fast_2", Colour::dim, true},
                                       {"mean", Colour::dim, true}}};
  rows.push_back(score_row("  over eager", set.eager, Colour::green));
  const bool compiled = set.torch_compile.timed > 0;  // PyTorch 1.13 has no torch.compile
  if (compiled) {
    rows.push_back(score_row("  over torch.compile", set.compiled, Colour::none));
    rows.push_back(score_row("  torch.compile over eager", set.torch_compile, Colour::dim));
  }
  if (set.eager_by_kernelbench.correct != set.eager.correct) {
    rows.push_back(score_row("  KernelBench's verdict, eager", set.eager_by_kernelbench, Colour::none));
    if (compiled)
      rows.push_back(score_row("  KernelBench's, torch.compile", set.compiled_by_kernelbench, Colour::none));
  }
  if (set.eager_without_weak)
    rows.push_back(
        score_row(fmt::format("  without {} weak, over eager", set.weak), *set.eager_without_weak, Colour::none));
  return table(rows, style);
}

/// The `kShown` first of `sorted`, one line each.
std::string ranked_text(const std::string& title, const std::vector<const Record*>& sorted, const Style& style) {
  std::vector<std::vector<Cell>> rows{{{title, Colour::bold},
                                       {"over eager", Colour::dim},
                                       {"over compile", Colour::dim, true},
                                       {"kernel", Colour::dim}}};
  for (std::size_t i = 0; i < std::min(kShown, sorted.size()); ++i) {
    const Record& record = *sorted[i];
    rows.push_back({{"  " + fit(problem_words(record.problem), kRankedName)},
                    {ratio_words(record.over_eager), record.over_eager->ratio > 1 ? Colour::green : Colour::yellow},
                    {record.over_compiled ? plain_ratio(record.over_compiled->ratio) + "x" : "-", Colour::none, true},
                    {fit(one_line(record.kernel), kRankedKernel), Colour::dim}});
  }
  return table(rows, style);
}

std::string failures_text(const bench::BenchState& state, const Style& style) {
  std::string text;
  for (const auto& count : bench::failures_by_reason(state.records)) {
    text += fmt::format("  {} {}\n", paint(fmt::format("{:3}", count.problems.size()), Colour::red, style),
                        bench::failure_words(count.failure));
    std::size_t shown = 0;
    for (const Record& record : state.records) {
      if (record.failure != count.failure) continue;
      if (++shown > kShown) {
        text += fmt::format("        and {} more\n", count.problems.size() - kShown);
        break;
      }
      text +=
          fit(fmt::format("        {}: {}", problem_id(record.problem), short_reason(record)), kSummaryColumns - 1) +
          "\n";
    }
  }
  return text.empty() ? "" : "\n" + paint("failures by reason", Colour::bold, style) + "\n" + text;
}

}  // namespace

std::string problem_line(const Record& record, const Style& style, std::size_t columns) {
  const std::string name = fmt::format("{:<{}}", fit(problem_words(record.problem), kNameColumns), kNameColumns);
  const std::string head = "  " + name + "  ";
  std::string rest;
  Colour colour = Colour::none;
  if (record.failure != Failure::none) {
    rest = fmt::format("{}: {}", bench::failure_words(record.failure), short_reason(record));
    colour = Colour::red;
  } else if (record.over_eager) {
    rest = ratio_words(record.over_eager) + " over eager";
    if (record.over_compiled) rest += ", " + plain_ratio(record.over_compiled->ratio) + "x over compile";
    if (record.kernelbench_correct == false) rest += ", KernelBench: no";
    if (!record.weak.empty()) rest += ", weak";
    colour = record.over_eager->ratio > 1 ? Colour::green : Colour::yellow;
  }
  rest = fit(rest, columns > head.size() ? columns - head.size() : 0);
  return head + paint(rest, colour, style) + "\n";
}

std::string progress_words(const bench::BenchProgress& progress) {
  std::string text = fmt::format("{} of {}", progress.finished, counted(progress.problems, "problem"));
  if (progress.failed > 0) text += fmt::format(", {} failed", progress.failed);
  text += fmt::format(", {} faster; {}", progress.faster, format_seconds(progress.seconds));
  if (progress.seconds_left >= 0 && progress.finished < progress.problems)
    text += fmt::format(", about {} left", format_seconds(progress.seconds_left));
  return text;
}

std::string bench_summary(const bench::BenchState& state, const Style& style) {
  std::string text;
  for (const ScoreSet& set : bench::score_sets(state.records)) {
    text += "\n" + set_text(set, style);
    if (set.missing > 0)
      text += paint(fmt::format("  {} not done yet, counted as failures", set.missing), Colour::yellow, style) + "\n";
  }
  std::vector<const Record*> timed;
  for (const Record& record : state.records)
    if (bench::task_of(record, bench::Over::eager, bench::Verdict::kerf).speedup > 0 && record.correct &&
        record.progress == bench::Progress::done)
      timed.push_back(&record);
  std::stable_sort(timed.begin(), timed.end(),
                   [](const Record* a, const Record* b) { return a->over_eager->ratio > b->over_eager->ratio; });
  if (!timed.empty()) {
    const std::size_t best = std::min(kShown, (timed.size() + 1) / 2);
    const std::size_t worst = std::min(kShown, timed.size() - best);
    text += "\n" + ranked_text("best", {timed.begin(), timed.begin() + static_cast<std::ptrdiff_t>(best)}, style);
    if (worst > 0)
      text += "\n" + ranked_text("worst", {timed.rbegin(), timed.rbegin() + static_cast<std::ptrdiff_t>(worst)}, style);
  }
  return text + failures_text(state, style);
}

}  // namespace kerf::cli
