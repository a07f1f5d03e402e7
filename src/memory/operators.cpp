#include "memory/operators.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/hash.hpp"

namespace kerf::memory {

using ir::attr;
using ir::is;

std::string operator_word(const ir::Node& node) {
  static constexpr std::array<std::string_view, std::variant_size_v<ir::Attr>> kKinds{
      "input", "constant", "iota", "map",  "reshape",       "view",   "concat", "reduce",
      "scan",  "contract", "conv", "pool", "adaptive_pool", "gather", "top"};
  const std::string kind(kKinds[node.attr.index()]);
  if (is<ir::MapAttr>(node)) return fmt::format("{}.{}", kind, ir::map_op_name(attr<ir::MapAttr>(node).op));
  if (is<ir::ReduceAttr>(node)) return fmt::format("{}.{}", kind, ir::reduce_op_name(attr<ir::ReduceAttr>(node).op));
  if (is<ir::ConvAttr>(node) && attr<ir::ConvAttr>(node).transposed) return kind + ".transposed";
  return kind;
}

std::string structure_key(const ir::Graph& graph) {
  std::string text;
  for (const ir::Node& node : graph.nodes) {
    text += operator_word(node);
    if (is<ir::ReduceAttr>(node))
      for (const int axis : attr<ir::ReduceAttr>(node).axes) text += fmt::format(" axis {}", axis);
    if (is<ir::ScanAttr>(node)) text += fmt::format(" axis {}", attr<ir::ScanAttr>(node).axis);
    text += fmt::format(" rank {}", node.shape.size());
    for (const ir::NodeId argument : node.args) text += fmt::format(" {}", argument);
    text += '\n';
  }
  for (const auto& output : graph.outputs) text += fmt::format("out {}\n", output.node);
  return sha256_hex(text).substr(0, 16);
}

std::string operator_family(const ir::Graph& graph) {
  static constexpr std::array<std::string_view, 8> kByCost{"conv", "contract", "scan",   "pool",
                                                           "top",  "reduce",   "gather", "map"};
  std::size_t found = kByCost.size() - 1;
  for (const ir::Node& node : graph.nodes) {
    std::string kind = operator_word(node);
    kind = kind.substr(0, kind.find('.'));
    if (kind == "adaptive_pool") kind = "pool";
    const auto at = static_cast<std::size_t>(std::find(kByCost.begin(), kByCost.end(), kind) - kByCost.begin());
    found = std::min(found, at);
  }
  return std::string(kByCost[found]);
}

double overlap(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  if (a.empty() && b.empty()) return 1;
  std::vector<std::string> common;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
  return static_cast<double>(common.size()) / static_cast<double>(a.size() + b.size() - common.size());
}

}  // namespace kerf::memory
