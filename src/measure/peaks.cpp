#include "measure/peaks.hpp"

#include <algorithm>
#include <cctype>

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

/// Rate of multiply-adds for the accuracy class; falls back to what is there.
double fma_rate(const Peaks& peaks, Precision precision) {
  const double f32 = rate(peaks, "fma_f32");
  const auto or_f32 = [&](const char* name) { return std::max(rate(peaks, name), f32); };
  switch (precision) {
    case Precision::f64: return std::max(rate(peaks, "fma_f64"), rate(peaks, "tensor_f64"));
    case Precision::f32: return f32;
    case Precision::tf32: return or_f32("tensor_tf32");
    case Precision::f16: return or_f32("tensor_f16");
    case Precision::bf16: return or_f32("tensor_bf16");
  }
  return f32;
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
