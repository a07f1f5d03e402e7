#include "export/shape_ranges.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/text.hpp"
#include "export/domain.hpp"
#include "export/parts.hpp"

namespace kerf::exporting {
namespace {

auto bad(std::string_view text, const std::string& why) {
  return fail(Errc::invalid_input,
              fmt::format("shapes '{}': {}; write for example rows=64..256:64,cols=1024", text, why));
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > kMaxExtent) return std::nullopt;
  return value;
}

/// "64", "1..4" or "64..256:64".
std::vector<std::int64_t> values_of(std::string_view text) {
  const auto dots = text.find("..");
  if (dots == std::string_view::npos) {
    const auto value = number(text);
    return value ? std::vector{*value} : std::vector<std::int64_t>{};
  }
  const auto colon = text.find(':', dots);
  const auto first = number(text.substr(0, dots));
  const auto last = number(text.substr(dots + 2, colon == std::string_view::npos ? colon : colon - dots - 2));
  const auto step = colon == std::string_view::npos ? std::optional<std::int64_t>(1) : number(text.substr(colon + 1));
  std::vector<std::int64_t> values;
  if (!first || !last || !step || *step < 1) return values;
  for (std::int64_t value = *first; value <= *last && values.size() <= kMaxInstances; value += *step)
    values.push_back(value);
  return values;
}

/// Sum over the symbols of how far apart two extents are, as a ratio.
double distance(const Bindings& a, const Bindings& b) {
  double sum = 0;
  for (const auto& [name, value] : a)
    if (const auto other = b.find(name); other != b.end())
      sum += std::fabs(std::log(static_cast<double>(std::max<std::int64_t>(1, value)) /
                                static_cast<double>(std::max<std::int64_t>(1, other->second))));
  return sum;
}

}  // namespace

Result<std::vector<ShapeSet>> parse_shapes(std::string_view text, const Task& task) {
  const auto known = symbol_names(task);
  std::vector<Bindings> all{Bindings{}};
  for (const auto& part : split(text, ',')) {
    const std::string_view trimmed = trim(part);
    const auto equals = trimmed.find('=');
    if (equals == std::string_view::npos) return bad(text, fmt::format("'{}' has no '='", trimmed));
    const std::string name(trim(trimmed.substr(0, equals)));
    if (std::find(known.begin(), known.end(), name) == known.end())
      return bad(text, fmt::format("the task has no shape symbol '{}'{}, choose one of: {}", name,
                                   did_you_mean(name, known), join(known, ", ")));
    const auto values = values_of(trim(trimmed.substr(equals + 1)));
    if (values.empty()) return bad(text, fmt::format("'{}' is neither a number nor a range", trimmed));
    if (all.front().contains(name)) return bad(text, fmt::format("'{}' is given twice", name));
    std::vector<Bindings> more;
    for (const auto& shape : all)
      for (const std::int64_t value : values) {
        more.push_back(shape);
        more.back()[name] = value;
      }
    if (more.size() > kMaxInstances) return bad(text, fmt::format("these are more than {} shapes", kMaxInstances));
    all = std::move(more);
  }
  std::vector<ShapeSet> sets;
  for (const auto& symbols : all) {
    ShapeSet set;
    for (const auto& name : known) {
      const auto value = symbols.find(name);
      if (value == symbols.end()) return bad(text, fmt::format("'{}' has no value", name));
      set.name += fmt::format("{}{}{}", set.name.empty() ? "" : "_", name, value->second);
    }
    set.symbols = symbols;
    if (const std::string refusal = refusal_of(task, symbols); !refusal.empty())
      return bad(text, fmt::format("{}: {}", set.name, refusal));
    const bool certified = std::any_of(task.shapes.begin(), task.shapes.end(),
                                       [&](const ShapeSet& own) { return own.symbols == symbols; });
    if (!certified) sets.push_back(std::move(set));
  }
  return sets;
}

Result<Bindings> tunables_for(const Winner& winner, const ShapeSet& shape) {
  auto instances = instances_of(winner);
  std::stable_sort(instances.begin(), instances.end(), [&](const Instance& a, const Instance& b) {
    return distance(shape.symbols, a.symbols) < distance(shape.symbols, b.symbols);
  });
  std::string broken;
  for (const auto& instance : instances) {
    Bindings constants = shape.symbols;
    constants.insert(instance.tunables.begin(), instance.tunables.end());
    broken.clear();
    for (std::size_t i = 0; i < winner.candidate.requirements.size() && broken.empty(); ++i)
      if (winner.candidate.requirements[i].evaluate(constants).value_or(0) == 0)
        broken = winner.candidate.requirement_texts[i];
    if (broken.empty()) return instance.tunables;
  }
  return fail(Errc::invalid_input,
              fmt::format("the kernel requires {}, which does not hold for shape {}", broken, shape.name));
}

}  // namespace kerf::exporting
