#pragma once
// One named number of an options struct: what it is called, what it may be, where it is kept. Rooms with options list
// theirs (judge/judge_settings, search/search_settings); `--set`, run.toml, help, cache keys and docs/settings.md read
// those lists.

#include <functional>
#include <string>
#include <type_traits>
#include <utility>

namespace kerf {

struct SettingFacts {
  std::string name;     ///< "measure.max_rounds"; stored, never renamed
  std::string unit;     ///< "ms", "rounds", "share of 1"
  double least = 0;     ///< smallest and ...
  double most = 1e9;    ///< ... largest value that is accepted
  bool in_key = false;  ///< part of the key that verdicts are cached by
  std::string help;     ///< one line
  bool whole = false;   ///< an integer; set by `setting`
  double usual = 0;     ///< the default; set by `setting`
};

/// Reads and writes the number in `Options`. Durations count in their own unit.
template <class Options>
struct Setting {
  SettingFacts facts;
  std::function<double(const Options&)> get;
  std::function<void(Options&, double)> set;
};

/// `field` gives the place: [](auto& options) -> auto& { return options.max_rounds; }.
template <class Options, class Field>
Setting<Options> setting(SettingFacts facts, Field field) {
  using Value = std::remove_cvref_t<decltype(field(std::declval<Options&>()))>;
  Setting<Options> made;
  made.get = [field](const Options& options) -> double {
    if constexpr (std::is_arithmetic_v<Value>)
      return static_cast<double>(field(options));
    else
      return static_cast<double>(field(options).count());
  };
  made.set = [field](Options& options, double value) {
    if constexpr (std::is_arithmetic_v<Value>)
      field(options) = static_cast<Value>(value);
    else
      field(options) = Value(static_cast<typename Value::rep>(value));
  };
  facts.whole = !std::is_floating_point_v<Value>;
  facts.usual = made.get(Options{});
  made.facts = std::move(facts);
  return made;
}

}  // namespace kerf
