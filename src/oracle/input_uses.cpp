#include "oracle/input_uses.hpp"

#include <algorithm>
#include <vector>

namespace kerf::oracle {
namespace {

/// Whether results of the node may be as large as its arguments.
bool keeps_size(const ir::Node& node) {
  if (ir::is<ir::TopAttr>(node)) return is_float(node.dtype);
  if (!ir::is<ir::MapAttr>(node)) return true;
  return ir::facts_of(ir::attr<ir::MapAttr>(node).op).keeps_size && is_float(node.dtype);
}

bool multiplies(const ir::Node& node) {
  if (!ir::is<ir::MapAttr>(node)) return false;
  const ir::MapOp op = ir::attr<ir::MapAttr>(node).op;
  return op == ir::MapOp::mul || op == ir::MapOp::div || op == ir::MapOp::pow;
}

}  // namespace

InputUses uses_of(const ir::Graph& graph, const std::string& input) {
  InputUses uses;
  std::vector<bool> carries(graph.nodes.size(), false), constant(graph.nodes.size(), false);
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {  // arguments come before their users
    const ir::Node& node = graph.nodes[i];
    if (ir::is<ir::InputAttr>(node)) {
      carries[i] = ir::attr<ir::InputAttr>(node).name == input;
      continue;
    }
    const auto of = [](const std::vector<bool>& marks) {
      return [&marks](ir::NodeId arg) { return marks[static_cast<std::size_t>(arg)]; };
    };
    constant[i] = std::ranges::all_of(node.args, of(constant));
    if (std::ranges::none_of(node.args, of(carries))) continue;
    if (multiplies(node) && std::ranges::none_of(node.args, of(constant))) uses.multiplied = true;
    if (ir::is<ir::ContractAttr>(node) || ir::is<ir::ConvAttr>(node)) uses.contracted = true;
    if (ir::is<ir::ConvAttr>(node) && of(carries)(node.args[1])) uses.weights = true;
    carries[i] = keeps_size(node);
  }
  return uses;
}

}  // namespace kerf::oracle
