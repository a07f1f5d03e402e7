#include "bench/page.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "bench/scores.hpp"
#include "report/html_page.hpp"

namespace kerf::bench {

/// Generated: the files of page/.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

namespace {

using Json = nlohmann::ordered_json;

/// The page does not show what PyTorch's process said word by word; results.json has it.
std::string shortened(const std::string& text) {
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return text;
  for (Json& problem : json["problems"]) problem["pytorch"].erase("comparison");
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string sentence(const BenchState& state) {
  const auto sets = score_sets(state.records);
  if (sets.empty()) return "No problem was asked for.";
  const ScoreSet& all = sets.back();
  return fmt::format("Of {}, {:.0f} % are correct and faster than eager PyTorch; geometric mean {:.2f}, failures as 1.",
                     counted(all.eager.tasks, "problem"), 100 * all.eager.fast_1, all.eager.geometric_mean);
}

}  // namespace

std::string results_page(const BenchState& state, const std::string& json) {
  report::HtmlPage page;
  page.title = fmt::format("{} on {} · kerf bench", suite_name(state.facts.suite), state.facts.target);
  page.summary = sentence(state);
  page.hint = "results.tsv beside this page has the table as text.";
  page.data = shortened(json);
  for (const auto& [name, content] : embedded_files()) (name.ends_with(".js") ? page.script : page.style) += content;
  return report::html_page(page);
}

}  // namespace kerf::bench
