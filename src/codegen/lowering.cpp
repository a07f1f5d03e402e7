#include "codegen/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.hpp"

namespace kerf::codegen {

using ir::attr;
using ir::is;
using ir::Node;
using ir::NodeId;

namespace {

/// Whether one pair of parentheses holds the whole text.
bool enclosed(const std::string& text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth == 0) return i + 1 == text.size() && text.front() == '(';
  }
  return false;
}

/// "(n / w)" taken apart at its one operator.
struct Operation {
  std::string left, right;
};

std::optional<Operation> operation(std::string text, char op) {
  if (enclosed(text)) text = text.substr(1, text.size() - 2);
  const auto at = text.rfind(std::string(" ") + op + " ");
  if (at == std::string::npos) return {};
  const auto whole = [](const std::string& part) { return part.find(' ') == std::string::npos || enclosed(part); };
  Operation found{text.substr(0, at), text.substr(at + 3)};
  if (!whole(found.left) || !whole(found.right)) return {};
  return found;
}

}  // namespace

std::string Lowering::type_name(DType type) const {
  return type == DType::boolean ? "int" : memory_type(dialect_, type);
}

std::string Lowering::convert(const std::string& value, DType from, DType to) const {
  if (from == to) return value;
  if (to == DType::boolean) return fmt::format("({} != 0)", value);
  return fmt::format("({}){}", type_name(to), value);
}

// Shape symbols are plain ints; products of them may not fit, so each is widened where it is used.
std::string Lowering::extent(const Dim& dim) {
  const std::string text = dim.to_c();
  std::string result;
  bool compound = false;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '_')) ++end;
    if (end == i) {
      compound = true;
      result += text[i++];
      continue;
    }
    const std::string word = text.substr(i, end - i);
    if (const auto symbol = plan_.symbols.find(word); symbol != plan_.symbols.end()) {
      uses_.symbols.insert(word);
      result += symbol->second;
    } else {
      result += word;
    }
    i = end;
  }
  return compound && !enclosed(result) ? "(" + result + ")" : result;
}

std::vector<std::string> Lowering::axes_of(const Index& index, const Shape& shape) {
  if (index.by_axis) return index.axes;
  std::vector<std::string> axes(shape.size(), "0");
  std::size_t first = 0;  // the first axis that is not literally 1 needs no remainder
  while (first < shape.size() && shape[first].is_one()) ++first;
  std::string rest = index.linear;
  for (std::size_t d = shape.size(); d-- > first;) {
    if (shape[d].is_one()) continue;
    if (d == first) {
      axes[d] = rest;
      break;
    }
    const std::string count = extent(shape[d]);
    axes[d] = code_.let("kerf_index", fmt::format("{} % {}", rest, count));
    rest = code_.let("kerf_index", fmt::format("{} / {}", rest, count));
  }
  return axes;
}

std::string Lowering::linear_of(const Index& index, const Shape& shape) {
  if (!index.linear.empty()) return index.linear;
  struct Axis {
    std::string at;
    Dim count;
  };
  std::vector<Axis> axes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].is_one()) continue;
    const std::string whole = axes.empty() ? "" : whole_number(axes.back().at, index.axes[d], shape, d);
    if (whole.empty())
      axes.push_back({index.axes[d], shape[d]});
    else
      axes.back() = {whole, axes.back().count * shape[d]};
  }
  std::string linear;
  for (const auto& [axis, count] : axes) {
    const bool first = linear.empty() || linear == "0";
    const bool sum = linear.find(' ') != std::string::npos;
    linear =
        first ? axis : fmt::format("{}{}{} * {} + {}", sum ? "(" : "", linear, sum ? ")" : "", extent(count), axis);
  }
  return linear.empty() ? "0" : code_.let("kerf_index", linear);
}

std::string Lowering::whole_number(const std::string& upper, const std::string& lower, const Shape& shape,
                                   std::size_t d) {
  const auto rest = operation(code_.expression("kerf_index", lower), '%');
  const auto quotient = operation(code_.expression("kerf_index", upper), '/');
  if (!rest || !quotient || rest->right != extent(shape[d])) return {};
  if (quotient->left == rest->left && quotient->right == rest->right) return rest->left;
  // n / (b * c) and n / c % b, where more axes follow: n / c.
  const auto inner = operation(code_.expression("kerf_index", rest->left), '/');
  if (!inner || inner->left != quotient->left) return {};
  Dim below = 1;
  for (std::size_t more = d + 1; more < shape.size(); ++more) {
    below = below * shape[more];
    if (inner->right == extent(below) && quotient->right == extent(below * shape[d])) return rest->left;
  }
  return {};
}

std::string Lowering::load(NodeId id, const Index& index) {
  const int buffer = plan_.location[static_cast<std::size_t>(id)];
  const Buffer& from = plan_.buffers[static_cast<std::size_t>(buffer)];
  if (std::find(uses_.buffers.begin(), uses_.buffers.end(), buffer) == uses_.buffers.end())
    uses_.buffers.push_back(buffer);
  const std::string at = linear_of(index, node(id).shape);
  switch (from.dtype) {
    case DType::f16:
    case DType::bf16: {
      const std::string helper = from.dtype == DType::f16 ? "kerf_load_f16" : "kerf_load_bf16";
      uses_.helpers.insert(from.dtype == DType::f16 ? "f16" : "bf16");
      return code_.let(type_name(options_.compute), fmt::format("{}({}, {})", helper, from.parameter, at));
    }
    case DType::boolean: return code_.let("int", fmt::format("{}[{}] != 0", from.parameter, at));
    case DType::i32:
    case DType::i64: return code_.let(type_name(DType::i64), fmt::format("{}[{}]", from.parameter, at));
    case DType::f32:
    case DType::f64:
      return code_.let(
          type_name(options_.compute),
          fmt::format("{}{}[{}]", from.dtype == options_.compute ? "" : "(" + type_name(options_.compute) + ")",
                      from.parameter, at));
  }
  return {};
}

void Lowering::store(int buffer, NodeId id, const Index& index, const std::string& value) {
  const DType type = type_of(id);
  const Buffer& to = plan_.buffers[static_cast<std::size_t>(buffer)];
  const std::string at = linear_of(index, node(id).shape);
  if (to.dtype == DType::f16 || to.dtype == DType::bf16) {
    uses_.helpers.insert(to.dtype == DType::f16 ? "f16" : "bf16");
    code_.line(fmt::format("kerf_store_{}({}, {}, (float){});", dtype_name(to.dtype), to.parameter, at, value));
    return;
  }
  const bool same = to.dtype == type && type != DType::boolean;
  code_.line(
      fmt::format("{}[{}] = {}{};", to.parameter, at, same ? "" : "(" + memory_type(dialect_, to.dtype) + ")", value));
}

std::string Lowering::value(NodeId id, const Index& index) {
  if (const auto known = bound_.find(id); known != bound_.end()) return known->second;
  return plan_.location[static_cast<std::size_t>(id)] >= 0 ? load(id, index) : compute(id, index);
}

std::string Lowering::compute(NodeId id, const Index& index) {
  const std::string key = fmt::format("#{} {}", id, index.by_axis ? join(index.axes, ",") : "@" + index.linear);
  if (std::string known = code_.recall(key); !known.empty()) return known;
  std::string result = compute_here(id, index);
  code_.remember(key, result);
  return result;
}

std::string Lowering::compute_here(NodeId id, const Index& index) {
  const Node& n = node(id);
  const DType type = type_of(id);
  if (is<ir::ConstantAttr>(n)) {
    const double constant = attr<ir::ConstantAttr>(n).value;
    return type == DType::boolean ? (constant != 0 ? "1" : "0") : literal(dialect_, constant, type);
  }
  if (is<ir::IotaAttr>(n)) {
    const std::string at = axes_of(index, n.shape)[static_cast<std::size_t>(attr<ir::IotaAttr>(n).axis)];
    return code_.let(type_name(type), convert(at, DType::i64, type));
  }
  if (is<ir::MapAttr>(n)) return map_value(id, index);
  if (is<ir::ReshapeAttr>(n)) return value(n.args[0], Index::of_linear(linear_of(index, n.shape)));
  if (is<ir::ViewAttr>(n)) return view_value(id, index);
  const Axes at = axes_of(index, n.shape);
  if (is<ir::ConcatAttr>(n)) return concat_value(id, at);
  if (is<ir::GatherAttr>(n)) return gather_value(id, at);
  if (is<ir::TopAttr>(n)) return top_value(id, at);
  if (is<ir::ReduceAttr>(n)) return reduce_value(id, at);
  if (is<ir::ContractAttr>(n)) return contract_value(id, at);
  if (is<ir::ConvAttr>(n)) return conv_value(id, at);
  if (is<ir::PoolAttr>(n)) return pool_value(id, at);
  KERF_CHECK(is<ir::AdaptivePoolAttr>(n), "inputs have buffers and scans are written line by line");
  return adaptive_pool_value(id, at);
}

std::string Lowering::map_value(NodeId id, const Index& index) {
  const Node& n = node(id);
  const ir::MapOp op = attr<ir::MapAttr>(n).op;
  std::vector<std::string> args;
  DType arg_type = DType::boolean;
  for (std::size_t a = 0; a < n.args.size(); ++a) {
    const Shape& shape = node(n.args[a]).shape;
    bool same = shape.size() == n.shape.size();
    for (std::size_t d = 0; same && d < shape.size(); ++d) same = shape[d].is_one() == n.shape[d].is_one();
    if (same) {
      args.push_back(value(n.args[a], index));
    } else if (std::all_of(shape.begin(), shape.end(), [](const Dim& d) { return d.is_one(); })) {
      args.push_back(value(n.args[a], {Axes(shape.size(), "0"), "0", true}));
    } else {
      const Axes at = axes_of(index, n.shape);
      Axes own(at.end() - static_cast<std::ptrdiff_t>(shape.size()), at.end());
      for (std::size_t d = 0; d < shape.size(); ++d)
        if (shape[d].is_one()) own[d] = "0";
      args.push_back(value(n.args[a], Index::of_axes(std::move(own))));
    }
    if (op == ir::MapOp::select && a == 0) continue;
    const DType own_type = type_of(n.args[a]);
    arg_type = promote(arg_type, own_type);
  }
  for (std::size_t a = op == ir::MapOp::select ? 1 : 0; a < args.size(); ++a)
    args[a] = convert(args[a], type_of(n.args[a]), arg_type);
  const DType type = type_of(id);
  return code_.let(type_name(type), map_expression(op, type, arg_type, args));
}

std::string Lowering::view_value(NodeId id, const Index& index) {
  const Node& n = node(id);
  const auto& view = attr<ir::ViewAttr>(n);
  const Shape& source = node(n.args[0]).shape;
  const Axes at = axes_of(index, n.shape);
  Axes own;
  std::vector<std::string> inside;
  for (std::size_t d = 0; d < source.size(); ++d) {
    const auto& map = view.axes[d];
    const bool shifted = !(map.offset.is_constant() && map.offset.constant() == 0);
    std::string text = shifted ? extent(map.offset) : "";
    for (const auto& term : map.terms) {
      const std::string& axis = at[static_cast<std::size_t>(term.axis)];
      if (text.empty())
        text = term.stride == 1 ? axis : fmt::format("{} * ({})", axis, term.stride);
      else
        text += term.stride == 1 ? fmt::format(" + {}", axis) : fmt::format(" + {} * ({})", axis, term.stride);
    }
    if (text.empty()) text = "0";
    if (map.modulo) {
      uses_.helpers.insert("wrap");
      text = fmt::format("kerf_wrap({}, {})", text, extent(*map.modulo));
    }
    const std::string j = code_.let("kerf_index", text);
    own.push_back(j);
    const bool plain = !shifted && map.terms.size() == 1 && map.terms[0].stride == 1 &&
                       n.shape[static_cast<std::size_t>(map.terms[0].axis)] == source[d];
    if (view.fill && !plain) inside.push_back(fmt::format("{} >= 0 && {} < {}", j, j, extent(source[d])));
  }
  if (inside.empty()) return value(n.args[0], Index::of_axes(std::move(own)));
  const DType type = type_of(id);
  const std::string fill = type == DType::boolean ? (*view.fill != 0 ? "1" : "0") : literal(dialect_, *view.fill, type);
  const std::string result = code_.variable(type_name(type), fill);
  code_.open(fmt::format("if ({})", join(inside, " && ")));
  code_.line(fmt::format("{} = {};", result, value(n.args[0], Index::of_axes(std::move(own)))));
  code_.close();
  return result;
}

std::string Lowering::concat_value(NodeId id, const Axes& at) {
  const Node& n = node(id);
  const auto axis = static_cast<std::size_t>(attr<ir::ConcatAttr>(n).axis);
  const DType type = type_of(id);
  const std::string result = code_.variable(type_name(type), "0");
  Dim begin = 0;
  for (const NodeId arg : n.args) {
    const Dim end = begin + node(arg).shape[axis];
    code_.open(fmt::format("if ({} >= {} && {} < {})", at[axis], extent(begin), at[axis], extent(end)));
    Axes own = at;
    own[axis] = code_.let("kerf_index", fmt::format("{} - {}", at[axis], extent(begin)));
    code_.line(
        fmt::format("{} = {};", result, convert(value(arg, Index::of_axes(std::move(own))), type_of(arg), type)));
    code_.close();
    begin = end;
  }
  return result;
}

}  // namespace kerf::codegen
