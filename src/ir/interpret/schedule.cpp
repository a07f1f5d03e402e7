#include "ir/interpret/schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace kerf::ir::eval {

NodeId strided_base(const Graph& graph, const std::vector<NodeFacts>& facts, NodeId node) {
  for (;;) {
    const NodeFacts& f = facts[static_cast<std::size_t>(node)];
    if (!is<ViewAttr>(graph[node]) || f.alias || !f.view->is_affine()) return node;
    node = graph[node].args[0];
  }
}

namespace {

/// An operation that costs more than writing and reading eight bytes is not worth doing twice.
constexpr std::int64_t kRecomputeLimit = 6;
/// Longer chains of fused nodes are cut, which bounds recursion.
constexpr int kMaxDepth = 200;

/// How a node uses an argument.
struct Edge {
  NodeId consumer = 0;
  bool buffer = false;    ///< wants it in memory
  bool identity = false;  ///< position by position
};

std::size_t at(NodeId node) { return static_cast<std::size_t>(node); }

bool is_fusable(const Node& node) {
  return is<MapAttr>(node) || is<IotaAttr>(node) || is<ViewAttr>(node) || is<ReshapeAttr>(node) ||
         is<ConstantAttr>(node);
}

/// The reduced axes as runs of adjacent axes, last run first; each split applies to what the former has left.
std::vector<Split> splits_of(const Extents& extents, const std::vector<int>& axes) {
  struct Run {
    bool reduced;
    std::int64_t extent;
  };
  std::vector<Run> runs;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (extents[d] == 1) continue;
    const bool reduced = std::find(axes.begin(), axes.end(), static_cast<int>(d)) != axes.end();
    if (!runs.empty() && runs.back().reduced == reduced)
      runs.back().extent *= extents[d];
    else
      runs.push_back({reduced, extents[d]});
  }
  std::vector<Split> splits;
  std::int64_t inner = 1;
  for (std::size_t i = runs.size(); i-- > 0;) {
    if (!runs[i].reduced) {
      inner *= runs[i].extent;
      continue;
    }
    std::int64_t outer = 1;
    for (std::size_t j = 0; j < i; ++j) outer *= runs[j].extent;
    splits.push_back({outer, runs[i].extent, inner});
  }
  if (splits.empty()) splits.push_back({element_count(extents), 1, 1});
  return splits;
}

class Scheduler {
 public:
  Scheduler(const Graph& graph, const Bindings& bindings)
      : graph_(graph), bindings_(bindings), size_(graph.nodes.size()) {}

  Result<Schedule> schedule() {
    KERF_TRY_VOID(gather_facts());
    find_uses();
    KERF_TRY_VOID(check_reductions());
    summarise();
    for (std::size_t n = size_; n-- > 0;) choose(static_cast<NodeId>(n));
    find_levels();
    build_steps();
    find_releases();
    return std::move(schedule_);
  }

 private:
  const NodeFacts& facts(NodeId node) const { return schedule_.facts[at(node)]; }

  Status gather_facts() {
    schedule_.facts.resize(size_);
    schedule_.base.resize(size_);
    for (std::size_t i = 0; i < size_; ++i) {
      const Node& node = graph_.nodes[i];
      NodeFacts& f = schedule_.facts[i];
      KERF_TRY(f.extents, evaluate(node.shape, bindings_));
      std::int64_t count = 1;
      for (const auto extent : f.extents) {
        if (extent < 0 || __builtin_mul_overflow(count, extent, &count) || count > (std::int64_t{1} << 48))
          return fail(Errc::invalid_input,
                      fmt::format("node {} of the reference has the impossible shape {}", i, to_string(node.shape)));
      }
      f.count = count;
      f.floating = is_float(node.dtype);
      f.storage = is<InputAttr>(node)      ? node.dtype
                  : f.floating             ? DType::f64
                  : is_integer(node.dtype) ? DType::i64
                                           : DType::boolean;
      if (is<ViewAttr>(node)) {
        KERF_TRY(f.view, concrete(attr<ViewAttr>(node), bindings_));
        f.alias =
            f.view->is_affine() && view_map(identity_map(f.extents), *f.view, facts(node.args[0]).extents).identity;
      }
      f.alias = f.alias || is<ReshapeAttr>(node) || is_free_cast(node);
      if (f.alias) f.storage = facts(node.args[0]).storage;
      schedule_.base[i] = f.alias ? schedule_.base[at(node.args[0])] : static_cast<NodeId>(i);
    }
    return {};
  }

  /// Floats are doubles and integers 64 bits wide here, whatever their declared width.
  bool is_free_cast(const Node& node) const {
    if (!is<MapAttr>(node) || attr<MapAttr>(node).op != MapOp::cast) return false;
    const DType from = graph_[node.args[0]].dtype;
    return is_float(node.dtype) ? is_float(from) : node.dtype == DType::i64 && from == DType::i32;
  }

  std::vector<std::pair<NodeId, Edge>> edges_of(NodeId id) const {
    const Node& node = graph_[id];
    std::vector<std::pair<NodeId, Edge>> edges;
    for (const NodeId arg : node.args) {
      Edge edge{id, false, false};
      NodeId target = arg;
      if (is<ContractAttr>(node)) {
        edge.buffer = true;
        target = strided_base(graph_, schedule_.facts, arg);
      } else if (is<MapAttr>(node) && !facts(id).alias) {
        edge.identity = broadcast_map(identity_map(facts(id).extents), facts(id).extents, facts(arg).extents).identity;
      } else if (is<ReduceAttr>(node) || facts(id).alias) {
        edge.identity = true;
      } else {
        edge.buffer = !is<ViewAttr>(node) || !facts(id).view->is_affine();
      }
      edges.emplace_back(target, edge);
    }
    return edges;
  }

  void find_uses() {
    needed_.assign(size_, 0);
    is_output_.assign(size_, 0);
    uses_.resize(size_);
    for (const auto& output : graph_.outputs) needed_[at(output.node)] = is_output_[at(output.node)] = 1;
    for (std::size_t n = size_; n-- > 0;) {
      if (needed_[n] == 0) continue;
      for (auto& [target, edge] : edges_of(static_cast<NodeId>(n))) {
        needed_[at(target)] = 1;
        uses_[at(target)].push_back(edge);
      }
    }
  }

  Status check_reductions() const {
    for (std::size_t n = 0; n < size_; ++n) {
      const Node& node = graph_.nodes[n];
      if (needed_[n] == 0 || !is<ReduceAttr>(node)) continue;
      const auto& reduce = attr<ReduceAttr>(node);
      const bool has_identity = reduce.op == ReduceOp::sum || reduce.op == ReduceOp::prod ||
                                reduce.op == ReduceOp::any || reduce.op == ReduceOp::all;
      std::int64_t reduced = 1;
      for (const int axis : reduce.axes) reduced *= facts(node.args[0]).extents[at(axis)];
      if (reduced == 0 && !has_identity)
        return fail(Errc::invalid_input, fmt::format("{} over no elements: the argument has shape {} for these extents",
                                                     reduce_op_name(reduce.op), to_string(graph_[node.args[0]].shape)));
    }
    return {};
  }

  /// Per node, if everything below it that can be fused were: stage (barriers passed), cost, depth.
  void summarise() {
    stage_.assign(size_, 0);
    cost_.assign(size_, 0);
    depth_.assign(size_, 0);
    for (std::size_t n = 0; n < size_; ++n) {
      const Node& node = graph_.nodes[n];
      const bool fused = is_fusable(node);
      for (const NodeId arg : node.args) {
        stage_[n] = std::max(stage_[n], stage_[at(arg)] + (fused ? 0 : 1));
        if (!fused) continue;
        cost_[n] = std::min<std::int64_t>(1000, cost_[n] + cost_[at(arg)]);
        depth_[n] = std::max(depth_[n], depth_[at(arg)] + 1);
      }
      if (is<MapAttr>(node)) cost_[n] += map_cost(attr<MapAttr>(node).op);
    }
  }

  /// Whether `id` is written to memory. Called from the last node to the first, so all consumers are decided.
  void choose(NodeId id) {
    if (materialised_.empty()) {
      materialised_.assign(size_, 0);
      aligned_.assign(size_, 1);
      sites_.resize(size_);
    }
    const Node& node = graph_[id];
    if (needed_[at(id)] == 0) return;
    if (!is_fusable(node)) {
      materialised_[at(id)] = 1;
      return;
    }
    bool write = is_output_[at(id)] != 0;
    bool aligned = true;
    std::set<Site> sites;
    for (const Edge& use : uses_[at(id)]) {
      const Node& consumer = graph_[use.consumer];
      const bool reduces = is<ReduceAttr>(consumer);
      const bool straight = use.identity && (reduces || aligned_[at(use.consumer)] != 0);
      aligned = aligned && straight;
      write = write || use.buffer;
      if (use.buffer) continue;
      if (facts(use.consumer).alias && materialised_[at(use.consumer)] != 0) write = true;  // it is this node's memory
      const bool repeats = uses_[at(id)].size() > 1 || facts(use.consumer).count >= 2 * facts(id).count;
      if (!straight && repeats && cost_[at(id)] > 0) write = true;
      if (reduces)
        sites.insert({stage_[at(id)], splits_of(facts(id).extents, attr<ReduceAttr>(consumer).axes).front()});
      else
        sites.insert(sites_[at(use.consumer)].begin(), sites_[at(use.consumer)].end());
    }
    if (is<ConstantAttr>(node)) {
      materialised_[at(id)] = write ? 1 : 0;
      return;
    }
    if (facts(id).alias && !aligned) write = true;  // read out of order, which only memory allows
    if (distinct(sites) > 1 && cost_[at(id)] > kRecomputeLimit) write = true;
    if (depth_[at(id)] > 0 && depth_[at(id)] % kMaxDepth == 0) write = true;
    materialised_[at(id)] = write ? 1 : 0;
    aligned_[at(id)] = write || aligned ? 1 : 0;
    if (write) sites = {{stage_[at(id)], Split{}}};
    sites_[at(id)] = std::move(sites);
  }

  /// Where a fused node is evaluated: the stage, and the shape of the reduction it feeds (none: all ones).
  struct Site {
    int stage;
    Split split;
    friend bool operator<(const Site& a, const Site& b) {
      return std::tie(a.stage, a.split.outer, a.split.reduce, a.split.inner) <
             std::tie(b.stage, b.split.outer, b.split.reduce, b.split.inner);
    }
  };

  /// Sites that are separate passes: plain writes join a reduction of the same stage.
  static std::size_t distinct(const std::set<Site>& sites) {
    std::size_t count = 0;
    for (const Site& site : sites) {
      const bool joins = site.split == Split{} && std::any_of(sites.begin(), sites.end(), [&](const Site& other) {
                           return other.stage == site.stage && !(other.split == Split{});
                         });
      count += joins ? 0 : 1;
    }
    return count;
  }

  /// level_[n] of a written node: the pass it belongs to. A pass reads what earlier passes wrote; positions that are
  /// read in step may also come from the same pass.
  void find_levels() {
    level_.assign(size_, 0);
    std::vector<int> straight(size_, 0), scattered(size_, 0);  // the earliest pass that can read the node in this way
    for (std::size_t n = 0; n < size_; ++n) {
      if (needed_[n] == 0) continue;
      const Node& node = graph_.nodes[n];
      if (is<InputAttr>(node) || is<ConstantAttr>(node)) {
        if (is<ConstantAttr>(node)) scattered[n] = 1;
        continue;
      }
      int in_step = 0, out_of_step = 0;
      for (const auto& [target, edge] : edges_of(static_cast<NodeId>(n))) {
        const bool constant = is<ConstantAttr>(graph_[target]) && !edge.buffer;
        if (constant) continue;
        in_step = std::max(in_step, edge.identity ? straight[at(target)] : scattered[at(target)]);
        out_of_step = std::max(out_of_step, scattered[at(target)]);
      }
      level_[n] = in_step;
      if (!is_fusable(node)) {
        straight[n] = scattered[n] = in_step + 1;
      } else if (materialised_[n] != 0) {
        straight[n] = in_step;
        scattered[n] = facts(static_cast<NodeId>(n)).alias ? out_of_step : in_step + 1;
      } else {
        straight[n] = in_step;
        scattered[n] = out_of_step;
      }
    }
  }

  static Conversion operand_conversion(const Node& reduce, const Node& operand) {
    const ReduceOp op = attr<ReduceAttr>(reduce).op;
    if (op == ReduceOp::any || op == ReduceOp::all)
      return is_float(operand.dtype) ? Conversion::float_to_bool : Conversion::none;
    if (op == ReduceOp::argmax || op == ReduceOp::argmin) return Conversion::none;
    return is_float(reduce.dtype) && !is_float(operand.dtype) ? Conversion::int_to_float : Conversion::none;
  }

  void build_steps() {
    struct Pass {
      Split split;
      ProgramRequest request;
      std::vector<Reduction> reductions;
    };
    std::map<int, std::map<std::int64_t, std::vector<Pass>>> passes;  // level, element count
    std::map<int, std::vector<NodeId>> nodes;
    const auto first_pass = [&](NodeId id, std::int64_t count) -> Pass& {
      auto& list = passes[level_[at(id)]][count];
      if (list.empty()) list.push_back({Split{count, 1, 1}, {}, {}});
      return list.front();
    };
    for (std::size_t n = 0; n < size_; ++n) {
      const Node& node = graph_.nodes[n];
      const auto id = static_cast<NodeId>(n);
      if (needed_[n] == 0 || is<InputAttr>(node) || materialised_[n] == 0 || facts(id).alias) continue;
      if (is_fusable(node)) {
        first_pass(id, facts(id).count).request.stores.push_back(id);
      } else if (is<ReduceAttr>(node)) {
        const NodeFacts& operand = facts(node.args[0]);
        std::vector<Split> splits = splits_of(operand.extents, attr<ReduceAttr>(node).axes);
        const Conversion conversion = operand_conversion(node, graph_[node.args[0]]);
        first_pass(id, operand.count);
        auto& list = passes[level_[n]][operand.count];
        auto pass = std::find_if(list.begin(), list.end(),
                                 [&](const Pass& p) { return p.reductions.empty() || p.split == splits[0]; });
        if (pass == list.end()) pass = list.insert(list.end(), Pass{});
        pass->split = splits[0];
        pass->request.operands.push_back({node.args[0], conversion});
        const bool floating =
            conversion == Conversion::int_to_float || (operand.floating && conversion == Conversion::none);
        pass->reductions.push_back({id, attr<ReduceAttr>(node).op, floating, {splits.begin() + 1, splits.end()}});
      } else {
        nodes[level_[n]].push_back(id);
      }
    }
    const int last = *std::max_element(level_.begin(), level_.end());
    for (int level = 0; level <= last; ++level) {
      for (auto& [count, list] : passes[level])
        for (auto& pass : list) {
          Step step;
          step.produces = pass.request.stores;
          for (const auto& reduction : pass.reductions) step.produces.push_back(reduction.node);
          RegionStep region{count, pass.split, compile_program(graph_, schedule_.facts, materialised_, pass.request),
                            std::move(pass.reductions)};
          for (auto& source : region.program.sources) source.node = schedule_.base[at(source.node)];
          step.work = std::move(region);
          schedule_.steps.push_back(std::move(step));
        }
      for (const NodeId id : nodes[level]) schedule_.steps.push_back({NodeStep{id}, {id}, {}});
    }
  }

  void find_releases() {
    std::vector<char> kept(size_, 0), seen(size_, 0);
    for (const auto& output : graph_.outputs) kept[at(schedule_.base[at(output.node)])] = 1;
    for (std::size_t s = schedule_.steps.size(); s-- > 0;) {
      Step& step = schedule_.steps[s];
      std::vector<NodeId> touched = step.produces;
      if (const auto* region = std::get_if<RegionStep>(&step.work)) {
        for (const auto& source : region->program.sources) touched.push_back(source.node);
      } else {
        for (const auto& [target, edge] : edges_of(std::get<NodeStep>(step.work).node))
          touched.push_back(schedule_.base[at(target)]);
      }
      for (const NodeId node : touched) {
        if (seen[at(node)] != 0 || kept[at(node)] != 0) continue;
        seen[at(node)] = 1;
        step.releases.push_back(node);
      }
    }
  }

  const Graph& graph_;
  const Bindings& bindings_;
  std::size_t size_;
  Schedule schedule_;
  std::vector<char> needed_, is_output_, materialised_;
  std::vector<char> aligned_;  // fused and always read position by position, or written
  std::vector<std::vector<Edge>> uses_;
  std::vector<std::set<Site>> sites_;
  std::vector<int> stage_, depth_, level_;
  std::vector<std::int64_t> cost_;
};

}  // namespace

Result<Schedule> make_schedule(const Graph& graph, const Bindings& bindings) {
  if (graph.nodes.empty() || graph.outputs.empty()) return Schedule{};
  return Scheduler(graph, bindings).schedule();
}

}  // namespace kerf::ir::eval
