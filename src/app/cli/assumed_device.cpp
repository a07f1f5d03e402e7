#include "app/cli/assumed_device.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kerf::cli {
namespace {

using nlohmann::json;

const std::vector<std::string>& device_words() {
  static const std::vector<std::string> words{"name",        "compute_units",         "memory_bytes",
                                              "cache_bytes", "max_threads_per_block", "max_shared_bytes",
                                              "lacks",       "runs_on_host",          "rates"};
  return words;
}

AssumedDevice read(const json& text) {
  AssumedDevice device;
  device.facts.name = text.value("name", "");
  device.facts.compute_units = text.value("compute_units", 0);
  device.facts.memory_bytes = text.value("memory_bytes", std::int64_t{0});
  device.facts.cache_bytes = text.value("cache_bytes", std::int64_t{0});
  device.facts.max_threads_per_block = text.value("max_threads_per_block", std::int64_t{0});
  device.facts.max_shared_bytes = text.value("max_shared_bytes", std::int64_t{0});
  device.facts.lacks = text.value("lacks", std::vector<std::string>{});
  device.facts.runs_on_host = text.value("runs_on_host", false);
  device.rates = text.value("rates", std::map<std::string, double>{});
  return device;
}

}  // namespace

Result<AssumedDevice> read_assumed_device(const std::string& path) {
  KERF_TRY(const std::string text, read_file(path));
  const json parsed = json::parse(text, nullptr, false);
  if (parsed.is_discarded() || !parsed.is_object())
    return fail(Errc::invalid_input, fmt::format("{} is no JSON object that describes a device", path));
  for (const auto& [name, value] : parsed.items())
    if (const auto& words = device_words(); std::find(words.begin(), words.end(), name) == words.end())
      return fail(Errc::invalid_input, fmt::format("{}: devices have no '{}'{}; known: {}", path, name,
                                                   did_you_mean(name, words), join(words, ", ")));
  try {
    return read(parsed);
  } catch (const json::exception& wrong) {
    return fail(Errc::invalid_input, fmt::format("{}: a value has the wrong type ({})", path, wrong.what()));
  }
}

}  // namespace kerf::cli
