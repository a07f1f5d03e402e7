#include "model/task.hpp"

#include <algorithm>
#include <cmath>
#include <array>
#include <utility>

namespace kerf {
namespace {

constexpr std::array<std::pair<Precision, std::string_view>, 5> kPrecisions{{{Precision::f64, "f64"},
                                                                             {Precision::f32, "f32"},
                                                                             {Precision::tf32, "tf32"},
                                                                             {Precision::f16, "f16"},
                                                                             {Precision::bf16, "bf16"}}};

}  // namespace

std::string_view precision_name(Precision precision) {
  for (const auto& [value, name] : kPrecisions)
    if (value == precision) return name;
  return "";
}

std::optional<Precision> precision_from_name(std::string_view name) {
  for (const auto& [value, known] : kPrecisions)
    if (known == name) return value;
  return std::nullopt;
}

bool ShapeSet::applies_to(std::string_view target) const {
  return targets.empty() || std::find(targets.begin(), targets.end(), target) != targets.end();
}

Result<InputDistribution> on_shape(const InputDistribution& given, const Bindings& symbols) {
  InputDistribution numbers = given;
  if (given.b_is_dim) {
    KERF_TRY(const std::int64_t highest, given.b_dim.evaluate(symbols));
    numbers.b = static_cast<double>(highest);
    numbers.b_is_dim = false;
  }
  KERF_TRY(const std::int64_t root, given.root.evaluate(symbols));
  if (root != 1) {
    const double divisor = std::sqrt(static_cast<double>(std::max<std::int64_t>(root, 1)));
    numbers.a /= divisor;
    numbers.b /= divisor;
    numbers.root = 1;
  }
  return numbers;
}

double element_count(const Task& task, const ShapeSet& shape) {
  double total = 0;
  for (const auto* list : {&task.inputs, &task.outputs})
    for (const auto& tensor : *list)
      if (const auto count = element_count(tensor.shape).evaluate(shape.symbols)) total += static_cast<double>(*count);
  return total;
}

std::vector<ShapeSet> shapes_for(const Task& task, std::string_view target) {
  std::vector<ShapeSet> sets;
  for (const auto& set : task.shapes)
    if (set.applies_to(target)) sets.push_back(set);
  const bool timed = std::any_of(sets.begin(), sets.end(), [](const ShapeSet& set) { return set.weight > 0; });
  if (!timed && !sets.empty()) sets.front().weight = 1;
  return sets;
}

}  // namespace kerf
