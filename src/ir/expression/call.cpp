#include "ir/expression/call.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "base/text.hpp"
#include "ir/expression/hints.hpp"

namespace kerf::ir {
namespace {

/// Names that PyTorch or NumPy give to our parameters; tried in order, the first that the function has wins.
struct Alias {
  std::string_view theirs, ours;
};
constexpr Alias kAliases[] = {{"dim", "axis"},
                              {"dim", "axes"},
                              {"dims", "axes"},
                              {"dims", "axis"},
                              {"axes", "axis"},
                              {"axes", "dims"},
                              {"axes", "dim0"},
                              {"axis", "axes"},
                              {"axis0", "dim0"},
                              {"axis1", "dim1"},
                              {"start_dim", "start"},
                              {"end_dim", "end"},
                              {"end", "stop"},
                              {"keepdim", "keepdims"},
                              {"input", "x"},
                              {"a", "x"},
                              {"x1", "x"},
                              {"x2", "y"},
                              {"input1", "x"},
                              {"input2", "y"},
                              {"other", "y"},
                              {"tensors", "x"},
                              {"x", "input"},
                              {"negative_slope", "slope"},
                              {"lambd", "lambda"},
                              {"min_val", "min"},
                              {"max_val", "max"},
                              {"attn_mask", "mask"},
                              {"condition", "mask"},
                              {"is_causal", "causal"},
                              {"query", "q"},
                              {"key", "k"},
                              {"value", "v"},
                              {"ddof", "correction"},
                              {"ord", "p"},
                              {"kernel", "kernel_size"},
                              {"divisor", "divisor_override"},
                              {"size", "shape"},
                              {"sizes", "shape"},
                              {"newshape", "shape"},
                              {"fill_value", "value"},
                              {"w", "weight"},
                              {"b", "bias"},
                              {"weight", "t"},
                              {"shift", "shifts"},
                              {"k", "diagonal"},
                              {"offset", "diagonal"}};

Value parse_fallback(std::string_view text) {
  if (text == "none") return {};
  if (text == "true" || text == "false") return Value::of_bool(text == "true");
  if (text == "inf") return Value::of_real(std::numeric_limits<double>::infinity());
  if (text.front() == '"') return Value::of_text(std::string(text.substr(1, text.size() - 2)));
  const std::string number(text);
  if (number.find_first_of(".e") != std::string::npos) return Value::of_real(std::strtod(number.c_str(), nullptr));
  return Value::of(Dim(std::strtoll(number.c_str(), nullptr, 10)));
}

}  // namespace

std::vector<Parameter> parse_signature(std::string_view signature) {
  const std::size_t open = signature.find('('), close = signature.rfind(')');
  KERF_CHECK(open != std::string_view::npos && close != std::string_view::npos, "malformed signature");
  std::vector<Parameter> parameters;
  for (const auto& part : split(signature.substr(open + 1, close - open - 1), ',')) {
    std::string_view item = trim(part);
    if (item.empty()) continue;
    Parameter parameter;
    if (item.front() == '*') {
      parameter.variadic = true;
      item.remove_prefix(1);
    }
    const std::size_t equals = item.find('=');
    parameter.name = item.substr(0, equals);
    parameter.required = equals == std::string_view::npos;
    if (!parameter.required) parameter.fallback = parse_fallback(item.substr(equals + 1));
    KERF_CHECK(is_identifier(parameter.name), "malformed parameter in a signature");
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

const Parameter* Call::find(std::string_view name) const {
  const auto found =
      std::find_if(parameters_.begin(), parameters_.end(), [&](const auto& p) { return p.name == name; });
  return found == parameters_.end() ? nullptr : &*found;
}

const Parameter* Call::find_alias(std::string_view alias) const {
  if (const Parameter* own = find(alias)) return own;
  for (const auto& candidate : kAliases)
    if (candidate.theirs == alias)
      if (const Parameter* parameter = find(candidate.ours)) return parameter;
  return nullptr;
}

std::vector<std::string> Call::parameter_names() const {
  std::vector<std::string> names;
  for (const auto& parameter : parameters_) names.push_back(parameter.name);
  return names;
}

void Call::bind(std::vector<Argument> arguments) {
  std::size_t position = 0;
  for (auto& argument : arguments) {
    const Parameter* parameter = nullptr;
    if (argument.keyword.empty()) {
      parameter = position < parameters_.size() ? &parameters_[position] : nullptr;
      if (parameter != nullptr && parameter->variadic) {
        Value& list = values_[parameter->name];
        if (list.kind != ValueKind::list) {
          list = Value::of_list({});
          list.at = argument.value.at;
        }
        list.items.push_back(std::move(argument.value));
        continue;
      }
      ++position;
    } else {
      parameter = find_alias(argument.keyword);
    }
    error_at_ = argument.value.at;
    if (parameter == nullptr && argument.keyword.empty())
      return ops.fail(name_ + " takes at most " + std::to_string(parameters_.size()) + " arguments");
    if (parameter == nullptr)
      return ops.fail(name_ + " has no parameter '" + argument.keyword + "'" +
                      did_you_mean(argument.keyword, parameter_names()) + "; it takes " +
                      join(parameter_names(), ", "));
    if (values_.contains(parameter->name)) return ops.fail(name_ + ": '" + parameter->name + "' is given twice");
    values_[parameter->name] = std::move(argument.value);
    error_at_ = 0;
  }
  for (const auto& parameter : parameters_) {
    const auto found = values_.find(parameter.name);
    if (found == values_.end()) {
      if (parameter.required && !parameter.variadic) return ops.fail(name_ + " needs '" + parameter.name + "'");
      values_[parameter.name] = parameter.variadic ? Value::of_list({}) : parameter.fallback;
    } else if (parameter.variadic && found->second.kind == ValueKind::list && found->second.items.size() == 1 &&
               found->second.items[0].kind == ValueKind::list) {
      Value inner = std::move(found->second.items[0]);  // reshape(x, [2, 3]) is reshape(x, 2, 3)
      found->second = std::move(inner);
    }
  }
}

bool Call::has(std::string_view parameter) const { return !value(parameter).is_none(); }

const Value& Call::value(std::string_view parameter) const {
  const auto found = values_.find(parameter);
  KERF_CHECK(found != values_.end(), "a handler asks for a parameter that its signature lacks");
  return found->second;
}

void Call::fail(const std::string& message) { ops.fail(name_ + ": " + message); }

void Call::fail(std::string_view parameter, const std::string& message) {
  if (!ops.failed()) error_at_ = value(parameter).at;
  ops.fail(name_ + ": '" + std::string(parameter) + "' " + message);
}

T Call::tensor(std::string_view parameter) {
  if (!value(parameter).is_numeric()) {
    fail(parameter, "must be a tensor, not " + value(parameter).describe() + part_hint(value(parameter)));
    return T{&ops, -1};
  }
  return to_tensor(ops, value(parameter));
}

std::vector<T> Call::tensors(const std::vector<std::string_view>& parameters) {
  std::vector<Value> values;
  for (const auto parameter : parameters) {
    if (!value(parameter).is_numeric()) {
      fail(parameter, "must be a tensor, not " + value(parameter).describe() + part_hint(value(parameter)));
      return std::vector<T>(parameters.size(), T{&ops, -1});
    }
    values.push_back(value(parameter));
  }
  return coerce(ops, values);
}

double Call::real(std::string_view parameter) {
  if (const auto number = value(parameter).number()) return *number;
  fail(parameter, "must be a number, not " + value(parameter).describe());
  return 0;
}

Dim Call::extent(std::string_view parameter) {
  const Value& given = value(parameter);
  if (given.kind == ValueKind::extent) return given.extent;
  fail(parameter, "must be an integer, not " + given.describe() + integer_hint(given));
  return 1;
}

std::int64_t Call::integer(std::string_view parameter) { return fixed_value(parameter, extent(parameter)); }

Shape Call::extents(std::string_view parameter) {
  const Value& given = value(parameter);
  if (given.kind != ValueKind::list) return {extent(parameter)};
  Shape shape;
  for (const auto& item : given.items) {
    if (item.kind != ValueKind::extent) {
      fail(parameter, "must be a list of integers, but holds " + item.describe() + integer_hint(item));
      return {};
    }
    shape.push_back(item.extent);
  }
  return shape;
}

std::vector<std::int64_t> Call::integers(std::string_view parameter) {
  std::vector<std::int64_t> values;
  for (const auto& extent : extents(parameter)) {
    values.push_back(fixed_value(parameter, extent));
    if (ops.failed()) return {};
  }
  return values;
}

std::int64_t Call::fixed_value(std::string_view parameter, const Dim& dim) {
  if (dim.is_constant()) return dim.constant();
  std::optional<std::int64_t> fixed;
  for (const Bindings& shapes : ops.builder().shape_sets()) {
    const auto value = dim.evaluate(shapes);
    if (!value) {
      fail(parameter, "is " + dim.to_string() + ": " + value.error().message);
      return 0;
    }
    if (fixed && *fixed != *value) {
      fail(parameter, "is " + dim.to_string() + ", which is " + std::to_string(*fixed) + " in one shape set and " +
                          std::to_string(*value) +
                          " in another; it must be the same in all, so write one task per value");
      return 0;
    }
    fixed = *value;
  }
  if (!fixed) fail(parameter, "must be a constant integer, not " + dim.to_string());
  return fixed.value_or(0);
}

std::vector<std::int64_t> Call::per_axis(std::string_view parameter, std::size_t count) {
  std::vector<std::int64_t> values = integers(parameter);
  if (values.size() == 1) values.resize(count, values[0]);
  if (values.size() != count && !ops.failed())
    fail(parameter, "needs one integer or " + std::to_string(count) + " of them");
  values.resize(count, 1);
  return values;
}

std::vector<int> Call::axes(std::string_view parameter, int rank) {
  std::vector<int> axes;
  if (!has(parameter)) return axes;
  for (const auto axis : integers(parameter)) {
    if (axis < -rank || axis >= rank) {
      fail(parameter, "is " + std::to_string(axis) + ", outside a tensor of rank " + std::to_string(rank));
      return {};
    }
    axes.push_back(static_cast<int>(axis < 0 ? axis + rank : axis));
  }
  return axes;
}

int Call::axis(std::string_view parameter, int rank) {
  const std::vector<int> given = axes(parameter, rank);
  if (given.size() == 1) return given[0];
  if (!ops.failed()) fail(parameter, "must be one axis");
  return 0;
}

bool Call::flag(std::string_view parameter) {
  const Value& given = value(parameter);
  if (given.kind == ValueKind::boolean) return given.boolean;
  if (const auto number = given.number(); number && (*number == 0 || *number == 1)) return *number == 1;
  fail(parameter, "must be true or false, not " + given.describe());
  return false;
}

std::string Call::word(std::string_view parameter, const std::vector<std::string>& allowed) {
  const Value& given = value(parameter);
  if (given.kind == ValueKind::text && std::find(allowed.begin(), allowed.end(), given.text) != allowed.end())
    return given.text;
  fail(parameter, "must be one of \"" + join(allowed, "\", \"") + "\", not " + given.describe());
  return allowed[0];
}

DType Call::dtype(std::string_view parameter) {
  const Value& given = value(parameter);
  if (given.kind == ValueKind::text) {
    if (const auto dtype = dtype_from_name(given.text)) return *dtype;
    fail(parameter, "is the unknown dtype '" + given.text + "'" + dtype_hint(given.text));
  } else {
    fail(parameter, "must be a dtype name such as \"f32\", not " + given.describe());
  }
  return DType::f32;
}

Value Call::result(T tensor, const std::vector<std::string_view>& arguments) const {
  Value result = Value::of(tensor);
  result.weak = std::all_of(arguments.begin(), arguments.end(),
                            [&](std::string_view parameter) { return value(parameter).weak; });
  return result;
}

}  // namespace kerf::ir
