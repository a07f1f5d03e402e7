// Elements chosen by data, one work item per element.

#include <fmt/format.h>

#include "codegen/lowering.hpp"

namespace kerf::codegen {

using ir::attr;
using ir::Node;
using ir::NodeId;

std::string Lowering::gather_value(NodeId id, const Axes& at) {
  const Node& n = node(id);
  const auto axis = static_cast<std::size_t>(attr<ir::GatherAttr>(n).axis);
  const Shape &source = node(n.args[0]).shape, &places = node(n.args[1]).shape;
  Axes place = at;
  for (std::size_t d = 0; d < places.size(); ++d)
    if (places[d].is_one()) place[d] = "0";
  const std::string chosen = value(n.args[1], Index::of_axes(std::move(place)));
  const DType type = type_of(id);
  const std::string result = code_.variable(type_name(type), "0");
  code_.open(fmt::format("if ({0} >= 0 && {0} < {1})", chosen, extent(source[axis])));
  Axes own = at;
  own[axis] = code_.let("kerf_index", chosen);
  code_.line(fmt::format("{} = {};", result, value(n.args[0], Index::of_axes(std::move(own)))));
  code_.close();
  return result;
}

/// The r-th of the order is the first of those that follow the one before it, so r + 1 passes find it. Ties go to the
/// lower index because it is met first.
std::string Lowering::top_value(NodeId id, const Axes& at) {
  const Node& n = node(id);
  const auto& top = attr<ir::TopAttr>(n);
  const auto axis = static_cast<std::size_t>(top.axis);
  const NodeId x = n.args[0];
  const DType type = type_of(x);
  const auto before = [&](const std::string& a, const std::string& b) {
    const char* sign = top.largest ? ">" : "<";
    if (!is_float(type)) return fmt::format("{} {} {}", a, sign, b);
    return top.largest ? fmt::format("({0} > {1} || ({0} != {0} && {1} == {1}))", a, b)
                       : fmt::format("({0} < {1} || ({0} == {0} && {1} != {1}))", a, b);
  };
  const std::string last = code_.variable(type_name(type), "0"), last_at = code_.variable("kerf_index", "-1");
  const std::string pass = open_loop("0", at[axis] + " + 1");
  const std::string best = code_.variable(type_name(type), "0"), best_at = code_.variable("kerf_index", "-1");
  const std::string i = open_loop("0", extent(node(x).shape[axis]));
  Axes own = at;
  own[axis] = i;
  const std::string element = value(x, Index::of_axes(std::move(own)));
  const std::string follows = fmt::format("{0} == 0 || {1} || (!({2}) && {3} > {4})", pass, before(last, element),
                                          before(element, last), i, last_at);
  code_.open(fmt::format("if (({}) && ({} < 0 || {}))", follows, best_at, before(element, best)));
  code_.line(fmt::format("{} = {};", best, element));
  code_.line(fmt::format("{} = {};", best_at, i));
  code_.close();
  code_.close();
  code_.line(fmt::format("{} = {};", last, best));
  code_.line(fmt::format("{} = {};", last_at, best_at));
  code_.close();
  return last_at;
}

}  // namespace kerf::codegen
