#include "memory/memory_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace kerf::memory {
namespace {

constexpr double kBelievedCount = 3;  // uses of an imported experience that count
constexpr std::size_t kMostExperiences = 200'000, kMostSkipped = 1000;
constexpr const char* kFileKind = "kerf memory";

bool is_left_out(const Experience& one, const std::vector<std::string>& without) {
  return std::any_of(without.begin(), without.end(),
                     [&](const std::string& name) { return name == one.task || name == one.task_id; });
}

void believe_little(Experience& one) {
  one.imported = true;
  for (auto& [stage, value] : one.values) {
    value.all.count = std::min(value.all.count, kBelievedCount);
    for (auto& [family, residual] : value.residuals) residual.count = std::min(residual.count, kBelievedCount);
  }
}

}  // namespace

std::string to_file(const std::vector<Experience>& experiences, const std::vector<std::string>& without) {
  std::string text = nlohmann::ordered_json{{"kind", kFileKind}, {"schema", kMemoryFileSchema}}.dump() + "\n";
  for (const Experience& one : experiences)
    if (!is_left_out(one, without)) text += to_json(one) + "\n";
  return text;
}

Result<ReadMemory> from_file(std::string_view text, const std::vector<std::string>& without) {
  ReadMemory read;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (number == 0) {
      const auto head = nlohmann::json::parse(line, nullptr, false);
      if (!head.is_object() || !head.contains("kind") || head["kind"] != kFileKind || !head.contains("schema"))
        return fail(Errc::invalid_input, "not a memory file: 'kerf memory export' writes one");
      if (head["schema"] != 1 && head["schema"] != kMemoryFileSchema)
        return fail(Errc::invalid_input, fmt::format("the memory file has schema {}; this Kerf reads schemas 1 to {}",
                                                     head["schema"].dump().substr(0, 20), kMemoryFileSchema));
      continue;
    }
    if (line.empty()) continue;
    if (read.experiences.size() >= kMostExperiences)
      return fail(Errc::invalid_input, fmt::format("the memory file has more than {} experiences", kMostExperiences));
    auto one = experience_from_json(line);
    if (!one) {
      if (read.skipped.size() < kMostSkipped)
        read.skipped.push_back(fmt::format("line {}: {}", number + 1, one.error().message));
      continue;
    }
    if (is_left_out(*one, without)) continue;
    believe_little(*one);
    read.experiences.push_back(*std::move(one));
  }
  if (number == 0) return fail(Errc::invalid_input, "not a memory file: it is empty");
  return read;
}

}  // namespace kerf::memory
