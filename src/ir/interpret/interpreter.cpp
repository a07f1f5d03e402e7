#include "ir/interpret/interpreter.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "base/parallel.hpp"
#include "ir/interpret/nodes.hpp"
#include "ir/interpret/region.hpp"
#include "ir/interpret/schedule.hpp"

namespace kerf::ir {
namespace {

using namespace eval;

std::size_t at(NodeId node) { return static_cast<std::size_t>(node); }

/// Runs the steps of a schedule. One use.
class Executor {
 public:
  Executor(const Graph& graph, const Schedule& schedule, const InterpretOptions& options)
      : graph_(graph),
        schedule_(schedule),
        threads_(options.threads > 0 ? options.threads : available_cores()),
        memory_(options.max_bytes),
        values_(graph.nodes.size()),
        outputs_(graph.outputs.size()) {}

  Result<std::vector<HostTensor>> run(std::span<const HostTensor> inputs) {
    KERF_TRY_VOID(bind_inputs(inputs));
    for (const Step& step : schedule_.steps) {
      for (const NodeId node : step.produces) KERF_TRY_VOID(allocate(node));
      if (const auto* region = std::get_if<RegionStep>(&step.work))
        KERF_TRY_VOID(execute(*region));
      else
        KERF_TRY_VOID(execute(std::get<NodeStep>(step.work).node));
      for (const NodeId node : step.releases)
        if (!is<InputAttr>(graph_[node])) values_[at(node)] = {};
    }
    KERF_TRY_VOID(finish_outputs());
    return std::move(outputs_);
  }

 private:
  const NodeFacts& facts(NodeId node) const { return schedule_.facts[at(node)]; }

  Status bind_inputs(std::span<const HostTensor> inputs) {
    if (inputs.size() != graph_.inputs.size())
      return fail(Errc::invalid_input,
                  fmt::format("the reference takes {} inputs, {} were given", graph_.inputs.size(), inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const auto& [name, node] = graph_.inputs[i];
      const HostTensor& tensor = inputs[i];
      const NodeFacts& expected = facts(node);
      if (tensor.dtype != graph_[node].dtype)
        return fail(Errc::invalid_input, fmt::format("input '{}' is {}, the reference takes {}", name,
                                                     dtype_name(tensor.dtype), dtype_name(graph_[node].dtype)));
      if (tensor.shape != expected.extents)
        return fail(Errc::invalid_input, fmt::format("input '{}' has shape [{}], the reference takes [{}]", name,
                                                     fmt::join(tensor.shape, ", "), fmt::join(expected.extents, ", ")));
      if (tensor.bytes.size() != static_cast<std::size_t>(expected.count) * dtype_size(tensor.dtype))
        return fail(Errc::invalid_input,
                    fmt::format("input '{}' holds {} bytes, its shape needs {}", name, tensor.bytes.size(),
                                static_cast<std::size_t>(expected.count) * dtype_size(tensor.dtype)));
      values_[at(node)] = {tensor.dtype, tensor.shape, tensor.bytes.data(), nullptr, nullptr};
    }
    return {};
  }

  /// The value of a node, through aliases, with the node's own extents.
  Value value(NodeId node) const {
    Value result = values_[at(schedule_.base[at(node)])];
    result.extents = facts(node).extents;
    return result;
  }

  std::string describe(NodeId node) const {
    const std::string& origin = graph_[node].origin;
    return fmt::format("a value of shape [{}]{}", fmt::join(facts(node).extents, ", "),
                       origin.empty() ? "" : fmt::format(" of {}", origin));
  }

  /// The first output whose elements `node` holds: it is computed in place there.
  HostTensor* home(NodeId node) {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const NodeId output = graph_.outputs[i].node;
      if (schedule_.base[at(output)] == node && facts(output).storage == facts(node).storage) return &outputs_[i];
    }
    return nullptr;
  }

  Status allocate(NodeId node) {
    const NodeFacts& f = facts(node);
    Value& v = values_[at(node)];
    v = {f.storage, f.extents, nullptr, nullptr, nullptr};
    const std::int64_t bytes = f.count * static_cast<std::int64_t>(dtype_size(f.storage));
    if (HostTensor* tensor = home(node)) {
      KERF_TRY_VOID(memory_.reserve(bytes, describe(node)));
      *tensor = make_tensor(f.storage, f.extents);
      v.writable = tensor->bytes.data();
    } else {
      KERF_TRY(v.owner, memory_.allocate(bytes, describe(node)));
      v.writable = v.owner.get();
    }
    v.data = v.writable;
    return {};
  }

  Status execute(const RegionStep& step) {
    RegionBuffers buffers;
    std::vector<Value> temporaries(step.reductions.size());  // results of reductions that need further passes
    for (const auto& source : step.program.sources) buffers.sources.push_back(values_[at(source.node)].data);
    for (const auto& store : step.program.stores) buffers.stores.push_back(values_[at(store.node)].writable);
    for (std::size_t i = 0; i < step.reductions.size(); ++i) {
      const Reduction& reduction = step.reductions[i];
      const Value& target = values_[at(reduction.node)];
      if (reduction.later.empty()) {
        buffers.reductions.push_back({target.writable, target.storage});
        continue;
      }
      KERF_TRY(temporaries[i], temporary(step.split, reduction));
      buffers.reductions.push_back({temporaries[i].writable, temporaries[i].storage});
    }
    KERF_TRY_VOID(run_region(step, buffers, memory_, threads_));
    for (std::size_t i = 0; i < step.reductions.size(); ++i)
      if (!step.reductions[i].later.empty())
        KERF_TRY_VOID(further_passes(step.reductions[i], std::move(temporaries[i])));
    return {};
  }

  Result<Value> temporary(const Split& split, const Reduction& reduction) {
    Value v{reduction.floating ? DType::f64 : DType::i64, {split.outer, split.inner}, nullptr, nullptr, nullptr};
    KERF_TRY(v.owner, memory_.allocate(v.count() * 8, "a partial reduction"));
    v.data = v.writable = v.owner.get();
    return v;
  }

  Status further_passes(const Reduction& reduction, Value partial) {
    for (std::size_t pass = 0; pass < reduction.later.size(); ++pass) {
      const Split& split = reduction.later[pass];
      const Value& result = values_[at(reduction.node)];
      RegionBuffers::Target target{result.writable, result.storage};
      Value next;
      if (pass + 1 < reduction.later.size()) {
        KERF_TRY(next, temporary(split, reduction));
        target = {next.writable, next.storage};
      }
      KERF_TRY_VOID(reduce_buffer(reduction.op, reduction.floating, partial.data, split, target, memory_, threads_));
      partial = std::move(next);
    }
    return {};
  }

  /// The operand of a contraction: memory, seen through the affine views above it.
  StridedValue strided(NodeId node) const {
    const NodeId leaf = strided_base(graph_, schedule_.facts, node);
    IndexMap map = identity_map(facts(node).extents);
    for (NodeId n = node; n != leaf; n = graph_[n].args[0])
      map = view_map(map, *facts(n).view, facts(graph_[n].args[0]).extents);
    StridedValue result{value(leaf), 0, facts(node).extents, Extents(facts(node).extents.size(), 0)};
    if (map.identity) {
      result.strides = row_major_strides(result.extents);
      return result;
    }
    const Extents leaf_strides = row_major_strides(facts(leaf).extents);
    for (std::size_t d = 0; d < map.axes.size(); ++d) {
      result.base += map.axes[d].offset * leaf_strides[d];
      for (std::size_t a = 0; a < result.strides.size(); ++a)
        result.strides[a] += map.axes[d].coefficients[a] * leaf_strides[d];
    }
    return result;
  }

  Status gather(const Node& node, std::vector<Value>& args, Value& out) {
    Value x = args[0];
    if (x.storage != out.storage) {
      KERF_TRY(x, as_lanes(args[0], memory_, threads_));
    }
    KERF_TRY(const Value index, as_lanes(args[1], memory_, threads_));
    run_gather(attr<GatherAttr>(node), x, index, out, threads_);
    return {};
  }

  Status execute(NodeId id) {
    const Node& node = graph_[id];
    Value& out = values_[at(id)];
    std::vector<Value> args;
    if (!is<ContractAttr>(node))
      for (const NodeId arg : node.args) args.push_back(value(arg));
    if (is<ConcatAttr>(node)) {
      run_concat(attr<ConcatAttr>(node).axis, args, out, threads_);
      return {};
    }
    if (is<GatherAttr>(node)) return gather(node, args, out);
    if (is<TopAttr>(node)) {
      KERF_TRY(const Value x, as_lanes(args[0], memory_, threads_));
      run_top(attr<TopAttr>(node), x, out, threads_);
      return {};
    }
    if (out.storage == DType::boolean)
      return fail(Errc::invalid_input,
                  fmt::format("{} is not defined for bool; cast to an integer first", describe(id)));
    if (is<ContractAttr>(node))
      return run_contract(attr<ContractAttr>(node), strided(node.args[0]), strided(node.args[1]), out, memory_,
                          threads_);
    if (is<ConvAttr>(node)) return run_conv(attr<ConvAttr>(node), args[0], args[1], out, memory_, threads_);
    KERF_TRY(const Value x, as_lanes(args[0], memory_, threads_));
    if (x.storage != out.storage)
      return fail(Errc::invalid_input, fmt::format("{} mixes float and integer elements", describe(id)));
    if (is<ScanAttr>(node))
      run_scan(attr<ScanAttr>(node), x, out, threads_);
    else if (is<PoolAttr>(node))
      run_pool(attr<PoolAttr>(node), x, out, threads_);
    else if (is<AdaptivePoolAttr>(node))
      run_adaptive_pool(attr<AdaptivePoolAttr>(node), x, out, threads_);
    else
      KERF_CHECK(false, "every kind of node is evaluated by a region or above");
    return {};
  }

  Status finish_outputs() {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const NodeId node = graph_.outputs[i].node;
      const Value source = value(node);
      if (source.count() > 0 && source.data == outputs_[i].bytes.data()) {
        outputs_[i].shape = source.extents;
        continue;
      }
      const DType storage = is_float(source.storage)     ? DType::f64
                            : is_integer(source.storage) ? DType::i64
                                                         : DType::boolean;
      KERF_TRY_VOID(memory_.reserve(source.count() * static_cast<std::int64_t>(dtype_size(storage)), describe(node)));
      HostTensor tensor = make_tensor(storage, source.extents);
      const auto size = static_cast<std::int64_t>(dtype_size(storage));
      parallel_for(source.count(), 100'000, threads_, [&](std::int64_t begin, std::int64_t end) {
        if (storage == DType::boolean)
          for (std::int64_t p = begin; p < end; ++p)
            tensor.as<std::uint8_t>()[p] = source.data[p] != std::byte{0} ? 1 : 0;
        else
          kernels().load(source.storage, source.data, begin, 1, end - begin, tensor.bytes.data() + begin * size);
      });
      outputs_[i] = std::move(tensor);
    }
    return {};
  }

  const Graph& graph_;
  const Schedule& schedule_;
  int threads_;
  Memory memory_;  // before values_: blocks return to it
  std::vector<Value> values_;
  std::vector<HostTensor> outputs_;
};

}  // namespace

Result<std::vector<HostTensor>> interpret(const Graph& graph, std::span<const HostTensor> inputs,
                                          const Bindings& bindings, const InterpretOptions& options) {
  try {
    KERF_TRY(const Schedule schedule, make_schedule(graph, bindings));
    return Executor(graph, schedule, options).run(inputs);
  } catch (const std::bad_alloc&) {
    return fail(Errc::unavailable, "out of memory while evaluating the reference; use a smaller shape");
  }
}

}  // namespace kerf::ir
