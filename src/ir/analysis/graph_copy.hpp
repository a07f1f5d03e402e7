#pragma once
// A graph copied node by node, some of them in another form. Internal to algebra*.cpp.

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/graph.hpp"

namespace kerf::ir::algebra {

class GraphCopy {
 protected:
  explicit GraphCopy(const Graph& graph) : graph_(graph) {}

  /// `other_form` gets a node whose arguments are of the new graph, and gives the node of the new graph that takes its
  /// place, or nothing where it stays as it is. Whether any did not.
  template <class OtherForm>
  bool copy(const OtherForm& other_form) {
    bool changed = false;
    for (const Node& original : graph_.nodes) {
      Node node = original;
      for (NodeId& arg : node.args) arg = moved(arg);
      origin_ = node.origin;
      const std::optional<NodeId> other = other_form(node);
      changed = changed || other;
      done_.push_back(other ? *other : add(std::move(node)));
    }
    for (const auto& input : graph_.inputs) result_.inputs.push_back({input.name, moved(input.node)});
    for (const auto& output : graph_.outputs) result_.outputs.push_back({output.name, moved(output.node)});
    return changed;
  }

  NodeId moved(NodeId id) const { return done_[static_cast<std::size_t>(id)]; }

  /// A node of the new graph; identical nodes once.
  NodeId add(Node node) {
    node.origin = origin_;
    const auto [place, inserted] = known_.try_emplace(structural_key(node), static_cast<NodeId>(result_.nodes.size()));
    if (inserted) result_.nodes.push_back(std::move(node));
    return place->second;
  }

  const Graph& graph_;
  Graph result_;

 private:
  std::vector<NodeId> done_;  // old node -> new node
  std::map<std::string, NodeId> known_;
  std::string origin_;
};

}  // namespace kerf::ir::algebra
