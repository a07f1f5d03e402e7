#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "app/cli/commands.hpp"
#include "base/text.hpp"
#include "judge/judge.hpp"
#include "search/loop.hpp"

namespace kerf::cli {
namespace {

/// One setting by name: how it is written and read.
struct Setting {
  std::string name;
  std::function<Status(const std::string& value)> set;
  std::function<double()> get;
};

template <class T>
Setting setting(std::string name, T& place, double least) {
  const auto set = [name, &place, least](const std::string& value) -> Status {
    double number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || !(number >= least) || number > 1e9)
      return fail(Errc::invalid_input,
                  fmt::format("--set {}={}: expected a number of at least {}", name, value, least));
    if constexpr (std::is_arithmetic_v<T>)
      place = static_cast<T>(number);
    else
      place = T(static_cast<typename T::rep>(number));
    return {};
  };
  const auto get = [&place] {
    if constexpr (std::is_arithmetic_v<T>)
      return static_cast<double>(place);
    else
      return static_cast<double>(place.count());
  };
  return {std::move(name), set, get};
}

std::vector<Setting> settings_of(JudgeOptions& judge, SearchOptions* search) {
  auto& measure = judge.measure;
  std::vector<Setting> all = {
      setting("measure.min_rounds", measure.min_rounds, 1),
      setting("measure.max_rounds", measure.max_rounds, 1),
      setting("measure.target_noise", measure.target_noise, 0),
      setting("measure.time_limit_ms", measure.time_limit, 1),
      setting("measure.min_batch_us", measure.min_batch, 0),
      setting("measure.baseline_share", measure.baseline_share, 0),
      setting("judge.call_limit_ms", judge.call_limit, 1),
      setting("judge.timed_data_sets", judge.timed_data_sets, 1),
  };
  if (search != nullptr)
    for (Setting& one : std::vector<Setting>{
             setting("search.patience", search->patience, 0),
             setting("search.starts", search->starts, 0),
             setting("search.start_share", search->start_share, 0),
             setting("search.tunings", search->tunings, 0),
             setting("search.tune_share", search->tune_share, 0),
             setting("search.finalists", search->finalists, 0),
             setting("search.floor_fraction", search->floor_fraction, 0),
             setting("search.at_once", search->at_once, 1),
             setting("search.keep", search->archive.keep, 1),
         })
      all.push_back(std::move(one));
  return all;
}

}  // namespace

Status apply_settings(const Settings& settings, JudgeOptions& judge, SearchOptions* search) {
  const auto known = settings_of(judge, search);
  for (const auto& [key, value] : settings.options) {
    const auto found = std::find_if(known.begin(), known.end(), [&](const Setting& one) { return one.name == key; });
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const Setting& one : known) names.push_back(one.name);
      return fail(Errc::invalid_input, fmt::format("unknown setting '{}'{}; choose one of: {}", key,
                                                   did_you_mean(key, names), join(names, ", ")));
    }
    KERF_TRY_VOID(found->set(value));
  }
  return {};
}

std::vector<std::pair<std::string, double>> effective_settings(JudgeOptions judge, SearchOptions search) {
  std::vector<std::pair<std::string, double>> values;
  for (const Setting& one : settings_of(judge, &search)) values.emplace_back(one.name, one.get());
  return values;
}

}  // namespace kerf::cli
