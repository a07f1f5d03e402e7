#include "memory/signature.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "memory/limits.hpp"
#include "memory/operators.hpp"

namespace kerf::memory {
namespace {

constexpr std::size_t kFeatures = 512;  // buckets that words are hashed into
constexpr double kExtentScale = 6;      // mean difference of log2 extents at which likeness falls to 1/e
constexpr double kExtentShare = 0.3, kDeviceShare = 0.4;  // of a similarity, at most
constexpr double kLargestExtent = 80;                     // log2
constexpr std::size_t kMostExtents = 16;

using Features = std::array<double, kFeatures>;

/// What a task is about counts more than how its values are moved about.
double weight_of(std::string_view word) {
  if (word.starts_with("family")) return 3;
  for (const std::string_view anchor : {"reduce", "contract", "conv", "scan", "pool", "adaptive_pool", "gather", "top"})
    if (word.starts_with(anchor)) return 2;
  for (const std::string_view common : {"input", "view", "reshape", "iota", "map.cast"})
    if (word.starts_with(common)) return 0.5;
  return 1;
}

/// Counts are damped, signs come from the hash so that collisions cancel on average.
Features features_of(const std::vector<std::string>& words) {
  std::map<std::string_view, int> counts;
  for (const std::string& word : words) ++counts[word];
  Features features{};
  for (const auto& [word, count] : counts) {
    const std::uint64_t hash = hash64(word);
    const double sign = (hash >> 63) != 0 ? -1 : 1;
    features[hash % kFeatures] += sign * weight_of(word) * (1 + std::log(static_cast<double>(count)));
  }
  return features;
}

double cosine(const Features& a, const Features& b) {
  double dot = 0, left = 0, right = 0;
  for (std::size_t i = 0; i < kFeatures; ++i) {
    dot += a[i] * b[i];
    left += a[i] * a[i];
    right += b[i] * b[i];
  }
  return left > 0 && right > 0 ? std::max(0.0, dot / std::sqrt(left * right)) : 0;
}

double device_likeness(const TaskSignature& a, const TaskSignature& b) {
  if (a.target != b.target) return 0;
  if (a.device.name == b.device.name) return 1;
  const auto ratio = [](double x, double y) { return x > 0 && y > 0 ? std::min(x, y) / std::max(x, y) : 0.0; };
  return (a.device.arch == b.device.arch ? 0.4 : 0.2) + 0.2 * ratio(a.device.compute_units, b.device.compute_units) +
         0.2 * ratio(a.device.cache_bytes, b.device.cache_bytes);
}

double extent_likeness(const TaskSignature& a, const TaskSignature& b) {
  const std::size_t count = std::min(a.extents.size(), b.extents.size());
  if (count == 0) return 0;
  double difference = 0;
  for (std::size_t i = 0; i < count; ++i) difference += std::abs(a.extents[i] - b.extents[i]);
  return std::exp(-difference / static_cast<double>(count) / kExtentScale);
}

double log2_elements(const Shape& shape, const Bindings& bindings) {
  double sum = 0;
  for (const Dim& extent : shape)
    sum += std::log2(static_cast<double>(std::max<std::int64_t>(1, extent.evaluate(bindings).value_or(1))));
  return sum;
}

double log2_sum(const std::vector<ir::TensorType>& tensors, const Bindings& bindings) {
  double elements = 1;
  for (const auto& tensor : tensors) elements += std::exp2(log2_elements(tensor.shape, bindings));
  return std::log2(elements);
}

double log2_last(const std::vector<ir::TensorType>& tensors, const Bindings& bindings) {
  double largest = -1, last = 0;
  for (const auto& tensor : tensors) {
    const double elements = log2_elements(tensor.shape, bindings);
    if (elements <= largest || tensor.shape.empty()) continue;
    largest = elements;
    last = log2_elements({tensor.shape.back()}, bindings);
  }
  return last;
}

std::vector<std::string> words_of(const ir::Graph& graph) {
  std::vector<std::string> words{"family " + operator_family(graph)};
  for (const ir::Node& node : graph.nodes) {
    const std::string word = operator_word(node);
    if (word == "constant") continue;
    if (ir::is<ir::InputAttr>(node)) {
      words.push_back(fmt::format("input.{}", dtype_name(node.dtype)));
      continue;
    }
    words.push_back(word);
    if (const auto dot = word.find('.'); dot != std::string::npos) words.push_back(word.substr(0, dot));
    if (ir::is<ir::MapAttr>(node))
      words.push_back(ir::is_expensive(ir::attr<ir::MapAttr>(node).op) ? "a function" : "arithmetic");
    if (ir::is<ir::ReduceAttr>(node)) {
      const auto& axes = ir::attr<ir::ReduceAttr>(node).axes;
      const auto rank = graph[node.args[0]].shape.size();
      const bool last = !axes.empty() && axes.back() + 1 == static_cast<int>(rank);
      words.push_back(fmt::format("{} over the {} axis", word, last ? "last" : "inner"));
    }
    for (const ir::NodeId argument : node.args)
      if (!ir::is<ir::ConstantAttr>(graph[argument]))
        words.push_back(fmt::format("{} of {}", word, operator_word(graph[argument])));
    if (!node.origin.empty()) words.push_back("function " + node.origin.substr(0, node.origin.find('#')));
  }
  if (words.size() > kMostWords) words.resize(kMostWords);
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

TaskSignature signature_of(const Task& task, const std::string& target, DeviceSignature device) {
  KERF_CHECK(task.graph.has_value(), "only tasks with an expression have a signature");
  TaskSignature signature;
  signature.words = words_of(*task.graph);
  signature.family = operator_family(*task.graph);
  signature.target = target;
  signature.precision = std::string(precision_name(task.precision));
  signature.device = std::move(device);
  const std::vector<ShapeSet> shapes = shapes_for(task, target);
  const auto main = std::max_element(shapes.begin(), shapes.end(),
                                     [](const ShapeSet& a, const ShapeSet& b) { return a.weight < b.weight; });
  if (main == shapes.end()) return signature;
  signature.extents = {log2_sum(task.inputs, main->symbols), log2_sum(task.outputs, main->symbols),
                       log2_last(task.inputs, main->symbols)};
  return signature;
}

double similarity(const TaskSignature& a, const TaskSignature& b) {
  const double operators = cosine(features_of(a.words), features_of(b.words));
  const double precision = a.precision == b.precision ? 1 : 0.7;
  return operators * precision * (1 - kExtentShare * (1 - extent_likeness(a, b))) *
         (1 - kDeviceShare * (1 - device_likeness(a, b)));
}

std::string signature_text(const TaskSignature& signature) {
  std::string text = fmt::format("{} in {}:", signature.family, signature.precision);
  for (const std::string& word : signature.words) text += " " + word;
  std::replace(text.begin(), text.end(), '.', ' ');
  return text;
}

std::string to_json(const TaskSignature& signature) {
  return nlohmann::json{{"words", signature.words},
                        {"family", signature.family},
                        {"target", signature.target},
                        {"precision", signature.precision},
                        {"extents", signature.extents},
                        {"device",
                         {{"name", signature.device.name},
                          {"arch", signature.device.arch},
                          {"compute_units", signature.device.compute_units},
                          {"cache_bytes", signature.device.cache_bytes}}}}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<TaskSignature> signature_from_json(std::string_view text) {
  if (text.size() > kLongestRecord) return fail(Errc::invalid_input, "the signature is too long");
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(Errc::invalid_input, "the signature is not a JSON object");
  TaskSignature signature;
  KERF_TRY(signature.words, limited_words(json, "words"));
  KERF_TRY(signature.family, limited_text(json, "family", kLongestWord));
  KERF_TRY(signature.target, limited_text(json, "target", kLongestWord));
  KERF_TRY(signature.precision, limited_text(json, "precision", kLongestWord));
  const auto extents = json.find("extents");
  if (extents == json.end() || !extents->is_array() || extents->size() > kMostExtents)
    return fail(Errc::invalid_input, fmt::format("'extents' is not a list of at most {} numbers", kMostExtents));
  for (const auto& extent : *extents) {
    const nlohmann::json entry{{"extents", extent}};
    KERF_TRY(const double value, limited_number(entry, "extents", 0, kLargestExtent));
    signature.extents.push_back(value);
  }
  const auto device = json.find("device");
  if (device == json.end()) return fail(Errc::invalid_input, "'device' is missing");
  KERF_TRY(signature.device.name, limited_text(*device, "name", kLongestWord));
  KERF_TRY(signature.device.arch, limited_text(*device, "arch", kLongestWord));
  KERF_TRY(const double units, limited_number(*device, "compute_units", 0, 1e6));
  KERF_TRY(signature.device.cache_bytes, limited_number(*device, "cache_bytes", 0, 1e15));
  signature.device.compute_units = static_cast<int>(units);
  return signature;
}

}  // namespace kerf::memory
