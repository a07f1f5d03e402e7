#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.hpp"
#include "model/candidate_header.hpp"
#include "task/reader.hpp"

namespace kerf::task {
namespace {

using Kind = InputDistribution::Kind;

const std::vector<std::string> kKinds = {"normal", "uniform", "integers", "constant"};
constexpr std::string_view kForms = "normal(mean, deviation), uniform(low, high), integers(low, high), constant(value); the first two may be followed by / sqrt(extents)";

auto bad(std::string message) { return fail(Errc::invalid_input, std::move(message)); }

Result<double> read_real(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    return bad(fmt::format("'{}' is not a finite number", text.substr(0, 40)));
  return value;
}

Result<InputDistribution> read_integers(const std::vector<std::string>& args) {
  InputDistribution result{Kind::integers, 0, 0, {}, false};
  KERF_TRY(const Dim low, parse_dim(args[0]));
  if (!low.is_constant()) return bad(fmt::format("the lowest integer '{}' must be a number", args[0]));
  result.a = static_cast<double>(low.constant());
  KERF_TRY(const Dim high, parse_dim(args[1]));
  result.b_is_dim = !high.is_constant();
  if (result.b_is_dim)
    result.b_dim = high;
  else
    result.b = static_cast<double>(high.constant());
  return result;
}

Result<InputDistribution> parse_distribution(std::string_view text);

/// "normal(0, 1) / sqrt(cols)": what stands before the last '/', divided by a root of an extent.
Result<InputDistribution> parse_quotient(std::string_view text, std::size_t slash) {
  const std::string_view divisor = trim(text.substr(slash + 1));
  if (!divisor.starts_with("sqrt(") || !divisor.ends_with(')'))
    return bad(fmt::format("expected sqrt(EXTENTS) after '/', not '{}'", divisor));
  KERF_TRY(InputDistribution result, parse_distribution(text.substr(0, slash)));
  if (result.kind != Kind::normal && result.kind != Kind::uniform)
    return bad("only normal and uniform values can be divided by a root");
  KERF_TRY(result.root, parse_dim(divisor.substr(5, divisor.size() - 6)));
  if (result.root.is_constant() && result.root.constant() < 1) return bad("the root must be of a number above 0");
  return result;
}

/// "normal(0, 1)" and its like.
Result<InputDistribution> parse_distribution(std::string_view text) {
  text = trim(text);
  if (const auto slash = text.rfind(") /"); slash != std::string_view::npos) return parse_quotient(text, slash + 2);
  const auto open = text.find('(');
  if (open == std::string_view::npos || !text.ends_with(')')) return bad(fmt::format("expected one of {}", kForms));
  const std::string name(trim(text.substr(0, open)));
  const auto kind = std::find(kKinds.begin(), kKinds.end(), name);
  if (kind == kKinds.end())
    return bad(fmt::format("unknown distribution '{}'{}; choose one of: {}", name, did_you_mean(name, kKinds), kForms));
  const auto args = split_outside_brackets(text.substr(open + 1, text.size() - open - 2), ',');
  const std::size_t wanted = name == "constant" ? 1 : 2;
  if (args.size() != wanted)
    return bad(fmt::format("{} takes {}, not {}", name, counted(wanted, "value"), args.size()));
  if (name == "integers") return read_integers(args);

  InputDistribution result;
  result.kind = static_cast<Kind>(kind - kKinds.begin());
  KERF_TRY(result.a, read_real(args[0]));
  if (name == "constant") return result;
  KERF_TRY(result.b, read_real(args[1]));
  if (name == "normal" && result.b <= 0) return bad("the deviation must be above 0");
  if (name == "uniform" && result.b <= result.a) return bad("the highest value must be above the lowest");
  return result;
}

/// The distribution makes values that the input's dtype can hold, under every shape set.
Status check_fits(const InputDistribution& given, const ir::TensorType& input, const std::vector<ShapeSet>& shapes) {
  const bool real = given.kind == Kind::normal || given.kind == Kind::uniform;
  if (real && !is_float(input.dtype))
    return bad(fmt::format("'{}' holds {} values; use integers(low, high)", input.name, dtype_name(input.dtype)));
  if (given.kind == Kind::constant && !is_float(input.dtype) && given.a != std::floor(given.a))
    return bad(fmt::format("'{}' holds {} values; {} is none", input.name, dtype_name(input.dtype), given.a));
  for (const auto& set : shapes) {
    const auto root = given.root.evaluate(set.symbols);
    if (!root) return bad(root.error().message);
    if (*root < 1) return bad(fmt::format("in shape set '{}' the root is of {}", set.name, *root));
  }
  if (real) return {};
  const double limit =
      input.dtype == DType::i32 ? static_cast<double>(std::numeric_limits<std::int32_t>::max()) : 0x1p53;
  for (const auto& set : shapes) {
    double high = given.kind == Kind::constant ? given.a : given.b;
    if (given.b_is_dim) {
      auto value = given.b_dim.evaluate(set.symbols);
      if (!value) return bad(value.error().message);
      high = static_cast<double>(*value);
    }
    if (high < given.a)
      return bad(fmt::format("in shape set '{}' the highest integer {} is below the lowest", set.name, high));
    if (given.a < -limit || high > limit)
      return bad(fmt::format("in shape set '{}' the values do not fit into {}", set.name, dtype_name(input.dtype)));
  }
  return {};
}

}  // namespace

Status read_distributions(const Source& source, const Table& root, Task& task) {
  const Value* value = find(root, "distributions");
  task.distributions.resize(task.inputs.size());
  Table empty;
  const Table* table = &empty;
  if (value != nullptr) {
    KERF_TRY(table, as_table(source, *value, "[distributions]"));
  }
  std::vector<std::string> names;
  for (const auto& input : task.inputs) names.push_back(input.name);
  KERF_TRY_VOID(check_keys(source, *table, "[distributions]", names));
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const auto& input = task.inputs[i];
    const Value* given = find(*table, input.name);
    if (given == nullptr) {
      if (is_integer(input.dtype))
        return source.error(
            entry_place(root, "inputs", input.name),
            fmt::format("input '{0}' holds integers, so the task must say which: add [distributions] {0} = "
                        "\"integers(0, 99)\"",
                        input.name));
      continue;
    }
    KERF_TRY(const std::string text, as_text(source, *given, fmt::format("the distribution of '{}'", input.name)));
    auto parsed = parse_distribution(text);
    if (!parsed) return source.error(given->place, parsed.error().message);
    if (auto status = check_fits(*parsed, input, task.shapes); !status)
      return source.error(given->place, status.error().message);
    task.distributions[i] = *std::move(parsed);
  }
  return {};
}

}  // namespace kerf::task
