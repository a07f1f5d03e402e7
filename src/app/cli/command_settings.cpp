#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/cli/commands.hpp"
#include "run/settings.hpp"

namespace kerf::cli {

Status settings(const SettingsOptions& options, const Environment&, Console& console) {
  if (options.markdown) {
    console.out << settings_markdown() << std::flush;
    return {};
  }
  if (options.json) {
    auto list = nlohmann::ordered_json::array();
    for (const SettingFacts& one : all_settings())
      list.push_back({{"name", one.name},
                      {"default", one.usual},
                      {"least", one.least},
                      {"most", one.most},
                      {"whole", one.whole},
                      {"unit", one.unit},
                      {"in_key", one.in_key},
                      {"help", one.help}});
    console.out << nlohmann::ordered_json{{"schema", 1}, {"settings", list}}.dump() << std::endl;
    return {};
  }
  std::vector<std::vector<Cell>> rows{{{"setting"}, {"default", Colour::none, true}, {"unit"}, folding("what it is")}};
  for (const SettingFacts& one : all_settings())
    rows.push_back({{one.name, Colour::bold},
                    {fmt::format("{}", one.usual), Colour::none, true},
                    {one.unit, Colour::dim},
                    {one.help}});
  console.out << table(rows, console.out_style) << "\nGiven as --set NAME=VALUE; ranges are in docs/settings.md.\n"
              << std::flush;
  return {};
}

}  // namespace kerf::cli
