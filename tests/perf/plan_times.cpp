// How long planning takes, task by task: everything between a task's text and kernels to build. Not part of ctest:
//   ninja -C build/release plan_times && build/release/tests/perf/plan_times --target NAME FOLDER_OR_TASKS...
// Milliseconds of processor time: parse (the task's text), small (naming extents, for text without [shapes]), cost,
// bound (the graph of error bounds), naive (source of the baseline), plan (rewrites, fusions and first compositions for
// a device that lacks nothing), write (source of the first), change (one mutation with its source: mean and worst of
// 40).

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.hpp"
#include "base/rng.hpp"
#include "ir/analysis/cost.hpp"
#include "ir/analysis/error_bound.hpp"
#include "judge/shape_context.hpp"
#include "propose/synth/synthesiser.hpp"
#include "pytorch/small_shape.hpp"
#include "target/target.hpp"
#include "task/task.hpp"

namespace kerf {
namespace {

constexpr int kChanges = 40;

/// Milliseconds of processor time that `work` takes; a busy machine changes it little.
template <class Work>
double timed(const Work& work) {
  const std::clock_t begin = std::clock();
  work();
  return 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// Mean and worst of mutations, each of the last child that one gave, with the source of the result.
std::pair<double, double> time_of_changes(const synth::Synthesiser& synthesiser) {
  Rng rng(1);
  synth::Genome parent = synthesiser.starts().front();
  double sum = 0, worst = 0;
  for (int i = 0; i < kChanges; ++i) {
    const double ms = timed([&] {
      std::optional<synth::Genome> child;
      if (i % 4 == 0) child = synthesiser.change_parameter(parent, rng);
      if (i % 4 == 1) child = synthesiser.change_family(parent, rng);
      if (i % 4 == 2) child = synthesiser.change_fusion(parent, rng);
      if (i % 4 == 3) child = synthesiser.cross(parent, synthesiser.starts().front(), rng);
      if (!child) return;
      static_cast<void>(synthesiser.render(*child));
      parent = *std::move(child);
    });
    sum += ms;
    worst = std::max(worst, ms);
  }
  return {sum / kChanges, worst};
}

Result<std::string> line_for(const std::filesystem::path& path, const std::string& target) {
  KERF_TRY(const std::string text, read_file(path));
  std::optional<Task> task;
  std::string problem;
  const double parse = timed([&] {
    auto read = parse_task(text, path.parent_path(), path.string());
    if (read)
      task = *std::move(read);
    else
      problem = read.error().message;
  });
  if (!task) return fail(Errc::invalid_input, problem);
  if (!task->graph) return fail(Errc::invalid_input, "no expression");
  double small = 0;
  if (text.find("[shapes]") == std::string::npos)
    small = timed([&] { static_cast<void>(pytorch::with_small_shape(text, path.string())); });
  const std::vector<ShapeSet> shapes = shapes_for(*task, target);
  std::vector<Bindings> symbols;
  for (const ShapeSet& shape : shapes) symbols.push_back(shape.symbols);
  const double cost = timed([&] { static_cast<void>(ir::cost(*task->graph, symbols.front())); });
  const double bound = timed([&] { static_cast<void>(ir::with_error_bounds(*task->graph, {}, symbols)); });
  const TargetDescription& description = *find_target(target);
  const double naive = timed([&] { static_cast<void>(naive_source(*task, description)); });
  std::unique_ptr<synth::Synthesiser> synthesiser;
  const double plan = timed([&] {
    auto made = synth::Synthesiser::create(*task, target, *description.dialect, DeviceFacts{});
    if (made)
      synthesiser = *std::move(made);
    else
      problem = made.error().message;
  });
  if (!synthesiser) return fail(Errc::invalid_input, problem);
  std::string refused;
  const double write = timed([&] {
    const auto candidate = synthesiser->render(synthesiser->starts().front());
    if (!candidate)
      refused = "  not written: ..." +
                candidate.error().message.substr(candidate.error().message.size() -
                                                 std::min<std::size_t>(candidate.error().message.size(), 60));
  });
  const auto [mean, worst] = time_of_changes(*synthesiser);
  return fmt::format("{:5} {:6} {:7.1f} {:7.1f} {:6.1f} {:7.1f} {:7.1f} {:8.1f} {:7.1f} {:7.1f} {:7.1f}{}",
                     task->graph->nodes.size(), synthesiser->starts().size(), parse, small, cost, bound, naive, plan,
                     write, mean, worst, refused);
}

int run(int count, char** arguments) {
  std::string target;
  std::vector<std::filesystem::path> tasks;
  for (int i = 1; i < count; ++i) {
    const std::string word = arguments[i];
    if (word == "--target" && i + 1 < count)
      target = arguments[++i];
    else if (std::filesystem::is_directory(word))
      for (const auto& entry : std::filesystem::directory_iterator(word)) tasks.push_back(entry.path());
    else
      tasks.emplace_back(word);
  }
  if (tasks.empty() || target.empty() || find_target(target) == nullptr) {
    std::cerr << "usage: plan_times --target NAME FOLDER_OR_TASKS...\n";
    return 2;
  }
  std::sort(tasks.begin(), tasks.end());
  std::cout << "task                         nodes starts   parse   small   cost   bound   naive     plan   write  "
               "change   worst\n";
  for (const auto& path : tasks) {
    const auto line = line_for(path, target);
    std::cout << fmt::format("{:28} {}\n", path.stem().string(), line ? *line : line.error().message.substr(0, 80))
              << std::flush;
  }
  return 0;
}

}  // namespace
}  // namespace kerf

int main(int count, char** arguments) { return kerf::run(count, arguments); }
