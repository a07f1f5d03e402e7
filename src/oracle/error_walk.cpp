#include "oracle/error_walk.hpp"

#include <algorithm>
#include <cmath>

namespace kerf::oracle {
namespace {

bool adds_up(const ir::Node& node) {
  if (!is_float(node.dtype)) return false;
  if (ir::is<ir::ContractAttr>(node) || ir::is<ir::ConvAttr>(node)) return true;
  if (ir::is<ir::ReduceAttr>(node)) {
    const ir::ReduceOp op = ir::attr<ir::ReduceAttr>(node).op;
    return op == ir::ReduceOp::sum || op == ir::ReduceOp::prod;
  }
  if (ir::is<ir::ScanAttr>(node)) {
    const ir::ScanOp op = ir::attr<ir::ScanAttr>(node).op;
    return op == ir::ScanOp::sum || op == ir::ScanOp::prod;
  }
  if (ir::is<ir::PoolAttr>(node)) return ir::attr<ir::PoolAttr>(node).op == ir::PoolOp::sum;
  return ir::is<ir::AdaptivePoolAttr>(node) && ir::attr<ir::AdaptivePoolAttr>(node).op == ir::PoolOp::sum;
}

}  // namespace

int summing_depth(const ir::Graph& graph) {
  std::vector<int> depth;  // of every node; arguments come before what uses them
  int deepest = 0;
  for (const ir::Node& node : graph.nodes) {
    int before = 0;
    for (const ir::NodeId arg : node.args) before = std::max(before, depth[static_cast<std::size_t>(arg)]);
    depth.push_back(before + (adds_up(node) ? 1 : 0));
    deepest = std::max(deepest, depth.back());
  }
  return deepest;
}

std::vector<bool> silent_outputs(const Task& task, const DataSet& data) {
  std::vector<bool> silent;
  for (std::size_t k = 0; k < task.outputs.size(); ++k) {
    const ir::HostTensor& expected = data.expected[k];
    const bool real = is_float(task.outputs[k].dtype);
    const auto value = [&](std::int64_t i) {
      return load_element(expected.dtype, expected.bytes.data(), static_cast<std::size_t>(i));
    };
    double squares = 0;
    std::int64_t finite = 0, unknown = 0;
    for (std::int64_t i = 0; i < expected.elements(); ++i)
      if (std::isfinite(value(i))) {
        squares += value(i) * value(i);
        ++finite;
      }
    const double scale = finite > 0 ? std::sqrt(squares / static_cast<double>(finite)) : 0;
    for (std::int64_t i = 0; i < expected.elements(); ++i) {
      const double bound = data.bound[k].as<double>()[i];
      if (std::isfinite(value(i)) && (std::isinf(bound) || (real && bound > scale))) ++unknown;
    }
    silent.push_back(unknown * 2 > finite);
  }
  return silent;
}

}  // namespace kerf::oracle
