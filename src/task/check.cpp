#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "ir/dim.hpp"
#include "task/task.hpp"

namespace kerf {
namespace {

/// What a candidate's header may refer to.
struct Scope {
  std::string kernel_file;
  std::vector<std::string> buffers, symbols, tunables;
};

bool contains(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

auto bad(const Scope& scope, std::string message) {
  return fail(Errc::invalid_input, fmt::format("{}: {}", scope.kernel_file, message));
}

Status check_symbols(const Scope& scope, const Dim& expression, std::string_view where) {
  std::vector<std::string> used;
  expression.collect_symbols(used);
  for (const auto& name : used) {
    if (contains(scope.symbols, name) || contains(scope.tunables, name)) continue;
    auto known = scope.symbols;
    known.insert(known.end(), scope.tunables.begin(), scope.tunables.end());
    return bad(scope, fmt::format("unknown symbol '{}' in {}{}; choose one of: {}", name, where,
                                  did_you_mean(name, known), known.empty() ? "none" : join(known, ", ")));
  }
  return {};
}

Status check_launch(const Scope& scope, const Launch& launch) {
  const std::string where = fmt::format("the launch of '{}'", launch.kernel);
  for (const auto* extents : {&launch.grid, &launch.block})
    for (const auto& extent : *extents) {
      KERF_TRY_VOID(check_symbols(scope, extent, where));
    }
  KERF_TRY_VOID(check_symbols(scope, launch.shared_bytes, where));
  for (const auto& arg : launch.args) {
    if (contains(scope.buffers, arg)) continue;
    if (contains(scope.symbols, arg) || contains(scope.tunables, arg))
      return bad(scope,
                 fmt::format("{} passes '{}', which is a compile-time constant in the code; pass only buffers: {}",
                             where, arg, join(scope.buffers, ", ")));
    return bad(scope, fmt::format("unknown buffer '{}' in {}{}; choose one of: {}", arg, where,
                                  did_you_mean(arg, scope.buffers), join(scope.buffers, ", ")));
  }
  return {};
}

/// The candidate's own names (tunables, scratch) are new.
Status check_new_names(Scope& scope, const Candidate& candidate) {
  const auto claim = [&](const std::string& name, const char* what) -> Status {
    if (contains(scope.buffers, name)) return bad(scope, fmt::format("{} '{}' has the name of a buffer", what, name));
    if (contains(scope.symbols, name))
      return bad(scope, fmt::format("{} '{}' has the name of a shape symbol", what, name));
    if (contains(scope.tunables, name)) return bad(scope, fmt::format("{} '{}' has the name of a tunable", what, name));
    return {};
  };
  for (const auto& tunable : candidate.tunables) {
    KERF_TRY_VOID(claim(tunable.name, "tunable"));
    scope.tunables.push_back(tunable.name);
  }
  for (const auto& scratch : candidate.plan.scratch) {
    KERF_TRY_VOID(claim(scratch.name, "scratch buffer"));
    for (const auto& extent : scratch.shape) {
      KERF_TRY_VOID(check_symbols(scope, extent, fmt::format("scratch buffer '{}'", scratch.name)));
    }
    scope.buffers.push_back(scratch.name);
  }
  return {};
}

}  // namespace

Status check_against(const Task& task, const Candidate& candidate) {
  Scope scope{candidate.name, {}, symbols_of(task), {}};
  for (const auto& input : task.inputs) scope.buffers.push_back(input.name);
  for (const auto& output : task.outputs) scope.buffers.push_back(output.name);
  KERF_TRY_VOID(check_new_names(scope, candidate));
  for (std::size_t i = 0; i < candidate.requirements.size(); ++i) {
    KERF_TRY_VOID(
        check_symbols(scope, candidate.requirements[i], fmt::format("'require: {}'", candidate.requirement_texts[i])));
  }

  const auto& launches = candidate.plan.launches;
  for (const auto& launch : launches) {
    KERF_TRY_VOID(check_launch(scope, launch));
  }
  if (launches.empty()) return {};  // an entry point takes all buffers: inputs, outputs, scratch
  for (const auto& output : task.outputs) {
    const bool passed =
        std::any_of(launches.begin(), launches.end(), [&](const Launch& l) { return contains(l.args, output.name); });
    if (!passed)
      return bad(scope, fmt::format("no launch passes the output '{}', so it can never be written", output.name));
  }
  return {};
}

}  // namespace kerf
