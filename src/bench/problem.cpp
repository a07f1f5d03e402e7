#include "bench/problem.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kerf::bench {
namespace {

constexpr Suite kSuites[] = {Suite::kernelbench, Suite::robust_kbench};

/// A text as a literal of Python: JSON's strings are some.
std::string python_literal(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string_view suite_name(Suite suite) { return suite == Suite::kernelbench ? "kernelbench" : "robust-kbench"; }

Result<Suite> suite_from_name(const std::string& name) {
  std::vector<std::string> known;
  for (const Suite suite : kSuites) {
    if (name == suite_name(suite)) return suite;
    known.emplace_back(suite_name(suite));
  }
  return fail(Errc::invalid_input, fmt::format("unknown benchmark '{}'{}; choose one of: {}", name,
                                               did_you_mean(name, known), join(known, ", ")));
}

std::string level_words(int level) { return level == 0 ? "own tasks" : fmt::format("level {}", level); }

std::string problem_id(const Problem& problem) {
  const std::string id =
      problem.level == 0 ? fmt::format("own/{}", problem.number) : fmt::format("{}/{}", problem.level, problem.number);
  return problem.setting == 0 ? id : fmt::format("{}.{}", id, problem.setting);
}

std::filesystem::path problem_folder(const Problem& problem) {
  std::string name = problem.name;
  for (char& c : name)
    if (c == '/' || c == '\\' || static_cast<unsigned char>(c) < ' ') c = '_';
  if (problem.setting > 0) name += fmt::format(".{}", problem.setting);
  return std::filesystem::path(problem.level == 0 ? "own" : fmt::format("level{}", problem.level)) / name;
}

Result<std::string> model_text(const Problem& problem) {
  KERF_TRY(std::string text, read_file(problem.file));
  if (problem.init.empty() && problem.inputs.empty()) return text;
  if (!text.ends_with('\n')) text += '\n';
  return text + fmt::format(R"(

# Added by kerf bench: one setting of config_forward.json, and forward without its argument 'fn', which is the function
# that computes the task.
import inspect as _kerf_inspect
import json as _kerf_json

_kerf_inputs = get_inputs
_kerf_forward = Model.forward


def _kerf_called(self, *args):
    return _kerf_forward(self, *args)


_kerf_called.__signature__ = _kerf_inspect.Signature(
    [one for name, one in _kerf_inspect.signature(_kerf_forward).parameters.items() if name != "fn"])
Model.forward = _kerf_called


def get_inputs():
    return _kerf_inputs(**_kerf_json.loads({}))


def get_init_inputs():
    return [], _kerf_json.loads({})
)",
                            python_literal(problem.inputs), python_literal(problem.init));
}

}  // namespace kerf::bench
