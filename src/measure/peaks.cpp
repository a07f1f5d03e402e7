#include "measure/peaks.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/file.hpp"

namespace kerf {
namespace {

using Json = nlohmann::json;

std::string identity(const DeviceFacts& facts) { return facts.name + " | " + facts.driver + " | " + facts.arch; }

std::filesystem::path file_for(const std::filesystem::path& folder, const DeviceFacts& facts) {
  std::string name = facts.id + "-" + facts.name;
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return folder / "peaks" / (name + ".json");
}

double rate(const Peaks& peaks, const std::string& name) {
  const auto found = peaks.rates.find(name);
  return found == peaks.rates.end() ? 0 : found->second;
}

/// A unit that reaches an accuracy class when every product is computed `products` times, from operands in parts.
struct AdmissibleUnit {
  const char* rate;
  double products;
};

/// f32 takes three products of parts with 11 bits each, six of parts with 8. Scaled f16 has the mantissa of tf32.
std::vector<AdmissibleUnit> admissible_units(Precision precision) {
  switch (precision) {
    case Precision::f64: return {{"fma_f64", 1}, {"tensor_f64", 1}};
    case Precision::f32: return {{"fma_f32", 1}, {"tensor_f16", 3}, {"tensor_tf32", 3}, {"tensor_bf16", 6}};
    case Precision::tf32:
    case Precision::f16: return {{"fma_f32", 1}, {"tensor_f16", 1}, {"tensor_tf32", 1}};
    case Precision::bf16: return {{"fma_f32", 1}, {"tensor_f16", 1}, {"tensor_tf32", 1}, {"tensor_bf16", 1}};
  }
  return {};
}

/// Rate of multiply-adds for the accuracy class: that of the fastest unit that reaches it.
double fma_rate(const Peaks& peaks, Precision precision) {
  double best = 0;
  for (const AdmissibleUnit& unit : admissible_units(precision))
    best = std::max(best, rate(peaks, unit.rate) / unit.products);
  return best;
}

}  // namespace

std::optional<Peaks> load_peaks(const std::filesystem::path& folder, const DeviceFacts& facts) {
  const auto text = read_file(file_for(folder, facts));
  if (!text) return std::nullopt;
  try {
    const Json json = Json::parse(*text);
    if (json.at("schema") != kPeaksSchema || json.at("device") != identity(facts)) return std::nullopt;
    Peaks peaks;
    json.at("device").get_to(peaks.device);
    json.at("rates").get_to(peaks.rates);
    return peaks;
  } catch (const Json::exception&) {
    return std::nullopt;  // damaged: as if never calibrated
  }
}

Status save_peaks(const std::filesystem::path& folder, const DeviceFacts& facts, const Peaks& peaks) {
  const Json json = {{"schema", kPeaksSchema}, {"device", identity(facts)}, {"rates", peaks.rates}};
  return write_file_atomic(file_for(folder, facts), json.dump(2) + "\n");
}

std::optional<SpeedOfLight> floor_of(const ir::Cost& cost, const Peaks& peaks, Precision precision) {
  const double copy = rate(peaks, "copy");
  if (copy <= 0) return std::nullopt;
  const double memory_us = (cost.bytes_read + cost.bytes_written) / copy * 1e6;
  const double fma = fma_rate(peaks, precision), plain = rate(peaks, "fma_f32");
  double compute_us = fma > 0 ? cost.fma_flops / fma * 1e6 : 0;
  if (plain > 0) compute_us += (cost.other_flops + cost.special_ops) / plain * 1e6;
  SpeedOfLight floor;
  floor.floor_us = std::max(memory_us, compute_us);
  floor.bound = memory_us >= compute_us ? "memory" : "compute";
  return floor;
}

std::optional<double> physical_floor_us(const ir::Cost& cost, const Peaks& peaks, const DeviceFacts& facts) {
  const double copy = rate(peaks, "copy");
  if (copy <= 0) return std::nullopt;
  const double bytes = cost.bytes_read + cost.bytes_written;
  double floor = 0;
  if (bytes > 2.0 * static_cast<double>(facts.cache_bytes)) floor = bytes / copy * 1e6;
  double best = 0;
  for (const auto& [name, value] : peaks.rates)
    if (name != "copy") best = std::max(best, value);
  if (best > 0 && !cost.fma_avoidable) floor = std::max(floor, cost.fma_flops / best * 1e6);
  return floor;
}

}  // namespace kerf
