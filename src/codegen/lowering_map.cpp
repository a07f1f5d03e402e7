// Elementwise operators as C expressions.

#include <fmt/format.h>

#include "codegen/lowering.hpp"

namespace kerf::codegen {

using ir::MapOp;

namespace {

/// Infix spelling of comparisons and logic, or "".
std::string_view predicate(MapOp op) {
  switch (op) {
    case MapOp::less: return "<";
    case MapOp::less_equal: return "<=";
    case MapOp::greater: return ">";
    case MapOp::greater_equal: return ">=";
    case MapOp::equal: return "==";
    case MapOp::not_equal:
    case MapOp::logical_xor: return "!=";
    case MapOp::logical_and: return "&&";
    case MapOp::logical_or: return "||";
    default: return "";
  }
}

/// Operators whose result is the same C expression for integers and floats, or "".
std::string common_expression(MapOp op, const std::vector<std::string>& a) {
  switch (op) {
    case MapOp::add: return fmt::format("{} + {}", a[0], a[1]);
    case MapOp::sub: return fmt::format("{} - {}", a[0], a[1]);
    case MapOp::mul: return fmt::format("{} * {}", a[0], a[1]);
    case MapOp::neg: return fmt::format("-{}", a[0]);
    default: return "";
  }
}

}  // namespace

std::string Lowering::map_expression(MapOp op, DType type, DType arg_type, const std::vector<std::string>& a) {
  if (const auto infix = predicate(op); !infix.empty()) return fmt::format("{} {} {}", a[0], infix, a[1]);
  switch (op) {
    case MapOp::logical_not: return fmt::format("!{}", a[0]);
    case MapOp::is_nan: return fmt::format("{0} != {0}", a[0]);
    case MapOp::select:
      return fmt::format("{} ? {} : {}", a[0], convert(a[1], arg_type, type), convert(a[2], arg_type, type));
    case MapOp::cast: return convert(a[0], arg_type, type);
    default: break;
  }
  std::vector<std::string> args;
  if (is_float(type)) {
    for (const auto& arg : a) args.push_back(convert(arg, arg_type, type));
    return real_expression(op, type, args);
  }
  for (const auto& arg : a) args.push_back(convert(arg, arg_type, DType::i64));
  const std::string text = integer_expression(op, args);
  return type == DType::boolean ? fmt::format("({}) != 0", text) : text;
}

std::string Lowering::integer_expression(MapOp op, const std::vector<std::string>& a) {
  if (std::string text = common_expression(op, a); !text.empty()) return text;
  const auto helper = [&](const char* name) {
    uses_.helpers.insert(name);
    return fmt::format("kerf_{}({}, {})", name, a[0], a[1]);
  };
  switch (op) {
    case MapOp::div: return helper("int_div");
    case MapOp::floor_div: return helper("int_floor_div");
    case MapOp::remainder: return helper("int_remainder");
    case MapOp::pow: return helper("int_pow");
    case MapOp::minimum: return fmt::format("{0} < {1} ? {0} : {1}", a[0], a[1]);
    case MapOp::maximum: return fmt::format("{0} > {1} ? {0} : {1}", a[0], a[1]);
    case MapOp::abs: return fmt::format("{0} < 0 ? -{0} : {0}", a[0]);
    case MapOp::sign: return fmt::format("({0} > 0) - ({0} < 0)", a[0]);
    case MapOp::floor:
    case MapOp::ceil:
    case MapOp::round:
    case MapOp::trunc: return a[0];
    default: {  // a function of reals: there and back
      std::vector<std::string> reals;
      for (const auto& arg : a) reals.push_back(convert(arg, DType::i64, options_.compute));
      return fmt::format("({})({})", dialect_.i64, real_expression(op, options_.compute, reals));
    }
  }
}

std::string Lowering::real_expression(MapOp op, DType type, const std::vector<std::string>& a) {
  if (std::string text = common_expression(op, a); !text.empty()) return text;
  const auto call = [&](std::string_view name, const std::string& args) {
    return fmt::format("{}({})", math_function(dialect_, name, type), args);
  };
  const std::string one = literal(dialect_, 1, type);
  switch (op) {
    case MapOp::div: return fmt::format("{} / {}", a[0], a[1]);
    case MapOp::floor_div: return call("floor", fmt::format("{} / {}", a[0], a[1]));
    case MapOp::remainder:
      uses_.helpers.insert("real_remainder");
      return fmt::format("kerf_real_remainder({}, {})", a[0], a[1]);
    case MapOp::pow: return call("pow", a[0] + ", " + a[1]);
    // A NaN in either place wins: the first by being unequal to itself, the second because no comparison holds.
    case MapOp::minimum: return fmt::format("({0} < {1} || {0} != {0}) ? {0} : {1}", a[0], a[1]);
    case MapOp::maximum: return fmt::format("({0} > {1} || {0} != {0}) ? {0} : {1}", a[0], a[1]);
    case MapOp::abs: return call("fabs", a[0]);
    // A NaN stays one: both comparisons are false, so the last arm hands it on.
    case MapOp::sign: {
      const std::string minus = literal(dialect_, -1, type);
      return fmt::format("{0} > 0 ? {1} : ({0} < 0 ? {2} : {0})", a[0], one, minus);
    }
    case MapOp::round: return call("rint", a[0]);
    case MapOp::rsqrt:
      return dialect_.has_rsqrt ? call("rsqrt", a[0]) : fmt::format("{} / {}", one, call("sqrt", a[0]));
    case MapOp::reciprocal: return fmt::format("{} / {}", one, a[0]);
    case MapOp::sigmoid: return fmt::format("{0} / ({0} + {1})", one, call("exp", "-" + a[0]));
    default: return call(ir::map_op_name(op), a[0]);  // floor, ceil, trunc, exp, ..., erf carry their C names
  }
}

}  // namespace kerf::codegen
