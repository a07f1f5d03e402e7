#include "ir/analysis/cost_demand.hpp"

#include <algorithm>
#include <map>

namespace kerf::ir::cost_detail {

AxisSet AxisSet::none(std::int64_t extent) {
  AxisSet set(extent);
  set.count_ = 0;
  return set;
}

void AxisSet::insert(std::int64_t index) {
  if (full() || index < 0 || index >= extent_) return;
  if (members_.empty()) members_.assign(static_cast<std::size_t>(extent_), 0);
  char& member = members_[static_cast<std::size_t>(index)];
  count_ += member == 0 ? 1 : 0;
  member = 1;
}

void AxisSet::unite(const AxisSet& other) {
  if (full()) return;
  if (other.full()) {
    *this = other;
    return;
  }
  for (std::int64_t i = 0; i < extent_; ++i)
    if (other.contains(i)) insert(i);
}

bool AxisSet::operator==(const AxisSet& other) const {
  if (extent_ != other.extent_ || count_ != other.count_) return false;
  if (full()) return true;
  for (std::int64_t i = 0; i < extent_; ++i)
    if (contains(i) != other.contains(i)) return false;
  return true;
}

double Demand::count() const {
  double total = density;
  for (const AxisSet& axis : axes) total *= static_cast<double>(axis.count());
  return any ? total : 0;
}

Demand full_demand(const Extents& extents) {
  Demand demand{true, {}, 1};
  for (const auto extent : extents) demand.axes.emplace_back(extent);
  return demand;
}

void unite(Demand& into, const Demand& other) {
  if (!other.any) return;
  if (!into.any) {
    into = other;
    return;
  }
  std::vector<std::size_t> different;
  for (std::size_t d = 0; d < into.axes.size(); ++d)
    if (!(into.axes[d] == other.axes[d])) different.push_back(d);
  if (different.size() == 1 && into.density == 1 && other.density == 1)
    into.axes[different[0]].unite(other.axes[different[0]]);
  else if (other.count() > into.count())
    into = other;
}

std::int64_t window_pairs(const WindowAxis& axis, const AxisSet& outputs, AxisSet* inputs, AxisSet* taps) {
  std::int64_t pairs = 0;
  for (std::int64_t p = 0; p < outputs.extent(); ++p) {
    if (!outputs.contains(p)) continue;
    for (std::int64_t k = 0; k < axis.kernel; ++k) {
      std::int64_t at =
          axis.transposed ? p + axis.padding - k * axis.dilation : p * axis.stride - axis.padding + k * axis.dilation;
      if (axis.transposed && (at < 0 || at % axis.stride != 0)) continue;
      if (axis.transposed) at /= axis.stride;
      if (at < 0 || at >= axis.input) continue;
      ++pairs;
      if (inputs != nullptr) inputs->insert(at);
      if (taps != nullptr) taps->insert(k);
    }
  }
  return pairs;
}

std::int64_t conv_groups(const ConvAttr& conv, const Extents& x, const Extents& w, std::int64_t out_channels) {
  // The weight's second axis has the channels of one group.
  const std::int64_t channels = conv.transposed ? out_channels : x[1];
  return std::max<std::int64_t>(1, channels / std::max<std::int64_t>(1, w[1]));
}

WindowAxis conv_axis(const ConvAttr& conv, std::size_t d, const Extents& x, const Extents& w) {
  return {x[d + 2], w[d + 2], conv.stride[d], conv.padding[d], conv.dilation[d], conv.transposed};
}

namespace {

Demand through_map(const Demand& out, const Extents& own, const Extents& argument) {
  Demand demand{true, {}, out.density};
  const std::size_t lead = own.size() - argument.size();
  for (std::size_t d = 0; d < argument.size(); ++d)
    demand.axes.push_back(argument[d] == own[lead + d] ? out.axes[lead + d] : AxisSet(argument[d]));
  return demand;
}

/// Same elements, other axes: leading and trailing axes that agree keep their sets, the number of elements is kept for
/// the rest.
Demand through_reshape(const Demand& out, const Extents& own, const Extents& argument) {
  Demand demand = full_demand(argument);
  demand.density = out.density;
  std::size_t head = 0, tail = 0;
  const std::size_t shorter = std::min(own.size(), argument.size());
  while (head < shorter && own[head] == argument[head]) ++head;
  while (tail + head < shorter && own[own.size() - 1 - tail] == argument[argument.size() - 1 - tail]) ++tail;
  for (std::size_t d = 0; d < own.size(); ++d) {
    if (d < head)
      demand.axes[d] = out.axes[d];
    else if (own.size() - d <= tail)
      demand.axes[argument.size() - (own.size() - d)] = out.axes[d];
    else if (own[d] > 0)
      demand.density *= static_cast<double>(out.axes[d].count()) / static_cast<double>(own[d]);
  }
  return demand;
}

Demand through_view(const ViewAttr& view, const Demand& out, const Extents& argument, const Bindings& bindings) {
  Demand demand{true, {}, out.density};
  std::map<int, int> uses;
  for (std::size_t d = 0; d < argument.size(); ++d) {
    const auto& map = view.axes[d];
    const std::int64_t offset = map.offset.evaluate(bindings).value_or(0);
    const std::int64_t modulo = map.modulo ? map.modulo->evaluate(bindings).value_or(0) : 0;
    const auto wrapped = [&](std::int64_t position) {
      return modulo > 0 ? ((position % modulo) + modulo) % modulo : position;
    };
    AxisSet set = AxisSet::none(argument[d]);
    if (map.terms.size() == 1) {
      const auto& term = map.terms[0];
      const AxisSet& axis = out.axes[static_cast<std::size_t>(term.axis)];
      ++uses[term.axis];
      const bool bijective = axis.full() && axis.extent() == argument[d] && (term.stride == 1 || term.stride == -1);
      if (bijective && (modulo == argument[d] || (modulo == 0 && !view.fill)))
        set = AxisSet(argument[d]);
      else
        for (std::int64_t i = 0; i < axis.extent(); ++i)
          if (axis.contains(i)) set.insert(wrapped(offset + term.stride * i));
    } else {  // all positions that the terms reach together, as in sliding windows
      std::vector<std::int64_t> positions{offset};
      for (const auto& term : map.terms) {
        ++uses[term.axis];
        const AxisSet& axis = out.axes[static_cast<std::size_t>(term.axis)];
        std::vector<std::int64_t> next;
        for (std::int64_t i = 0; i < axis.extent(); ++i)
          if (axis.contains(i))
            for (const auto position : positions) next.push_back(position + term.stride * i);
        std::sort(next.begin(), next.end());
        next.erase(std::unique(next.begin(), next.end()), next.end());
        positions = std::move(next);
      }
      for (const auto position : positions) set.insert(wrapped(position));
    }
    demand.axes.push_back(std::move(set));
  }
  // An axis that moves through several input axes at once walks a diagonal, not a box.
  for (const auto& [axis, count] : uses)
    for (int k = 1; k < count; ++k)
      demand.density /= std::max<double>(1, static_cast<double>(out.axes[static_cast<std::size_t>(axis)].count()));
  return demand;
}

Demand through_reduce(const ReduceAttr& reduce, const Demand& out, const Extents& argument) {
  Demand demand = full_demand(argument);
  demand.density = out.density;
  for (std::size_t d = 0, o = 0; d < argument.size(); ++d) {
    const bool reduced = std::find(reduce.axes.begin(), reduce.axes.end(), static_cast<int>(d)) != reduce.axes.end();
    if (!reduced) demand.axes[d] = out.axes[o];
    if (!reduced || reduce.keepdims) ++o;
  }
  return demand;
}

Demand through_scan(const ScanAttr& scan, const Demand& out) {
  Demand demand = out;
  demand.mask = -1;
  AxisSet& axis = demand.axes[static_cast<std::size_t>(scan.axis)];
  std::int64_t low = axis.extent(), high = -1;
  for (std::int64_t i = 0; i < axis.extent(); ++i)
    if (axis.contains(i)) low = std::min(low, i), high = i;
  AxisSet needed = AxisSet::none(axis.extent());
  const std::int64_t skip = scan.exclusive ? 1 : 0;
  for (std::int64_t i = 0; i < axis.extent(); ++i)
    if (scan.reverse ? i >= low + skip && high >= 0 : i <= high - skip) needed.insert(i);
  axis = std::move(needed);
  return demand;
}

Demand through_contract(const ContractAttr& contract, std::size_t which, const Demand& out, const Extents& argument) {
  Demand demand = full_demand(argument);
  demand.density = out.density;
  const auto& labels = which == 0 ? contract.lhs : contract.rhs;
  for (std::size_t d = 0; d < labels.size(); ++d) {
    const auto place = std::find(contract.out.begin(), contract.out.end(), labels[d]);
    if (place != contract.out.end()) demand.axes[d] = out.axes[static_cast<std::size_t>(place - contract.out.begin())];
  }
  return demand;
}

Demand through_conv(const ConvAttr& conv, std::size_t which, const Demand& out, const std::vector<Extents>& arguments) {
  const Extents &x = arguments[0], &w = arguments[1];
  Demand demand = full_demand(arguments[which]);
  demand.density = out.density;
  // Channels: the groups that the needed output channels lie in.
  const std::int64_t groups = conv_groups(conv, x, w, out.axes[1].extent());
  const std::int64_t group_out = std::max<std::int64_t>(1, out.axes[1].extent() / groups);
  const std::int64_t group_in = std::max<std::int64_t>(1, x[1] / groups);
  AxisSet channels = AxisSet::none(x[1]), within = AxisSet::none(group_out);
  for (std::int64_t o = 0; o < out.axes[1].extent(); ++o) {
    if (!out.axes[1].contains(o)) continue;
    within.insert(o % group_out);
    for (std::int64_t c = 0; c < group_in; ++c) channels.insert(o / group_out * group_in + c);
  }
  if (which == 0) {
    demand.axes[0] = out.axes[0];
    demand.axes[1] = channels;
  } else if (conv.transposed) {
    demand.axes[0] = channels;
    if (groups == 1) demand.axes[1] = within;
  } else {
    demand.axes[0] = out.axes[1];
  }
  for (std::size_t d = 0; d + 2 < x.size(); ++d) {
    AxisSet positions = AxisSet::none(x[d + 2]), taps = AxisSet::none(w[d + 2]);
    window_pairs(conv_axis(conv, d, x, w), out.axes[d + 2], &positions, &taps);
    demand.axes[d + 2] = which == 0 ? positions : taps;
  }
  return demand;
}

/// All indices of the needed elements; of the data, which may be the same element every time, one per line.
Demand through_gather(const GatherAttr& gather, std::size_t which, const Demand& out, const Extents& argument) {
  Demand demand = out;
  demand.mask = -1;
  const auto axis = static_cast<std::size_t>(gather.axis);
  if (which == 0) {
    demand.axes[axis] = AxisSet::none(argument[axis]);
    if (argument[axis] > 0 && out.axes[axis].count() > 0) demand.axes[axis].insert(0);
    return demand;
  }
  for (std::size_t d = 0; d < argument.size(); ++d)
    if (argument[d] == 1 && d != axis) demand.axes[d] = AxisSet(1);
  return demand;
}

/// Every element of a line decides who is among the largest.
Demand through_top(const TopAttr& top, const Demand& out, const Extents& argument) {
  Demand demand = out;
  demand.mask = -1;
  demand.axes[static_cast<std::size_t>(top.axis)] = AxisSet(argument[static_cast<std::size_t>(top.axis)]);
  return demand;
}

Demand through_pool(const Node& node, const Demand& out, const Extents& argument) {
  Demand demand = out;
  demand.mask = -1;
  const bool adaptive = is<AdaptivePoolAttr>(node);
  const std::size_t rank =
      adaptive ? static_cast<std::size_t>(attr<AdaptivePoolAttr>(node).rank) : attr<PoolAttr>(node).kernel.size();
  const std::size_t lead = argument.size() - rank;
  for (std::size_t d = 0; d < rank; ++d) {
    AxisSet positions = AxisSet::none(argument[lead + d]);
    const AxisSet& outputs = out.axes[lead + d];
    if (adaptive) {
      const std::int64_t n = argument[lead + d], m = outputs.extent();
      for (std::int64_t i = 0; i < m; ++i)
        if (outputs.contains(i))
          for (std::int64_t j = i * n / m; j < ((i + 1) * n + m - 1) / m; ++j) positions.insert(j);
    } else {
      const auto& pool = attr<PoolAttr>(node);
      const WindowAxis axis{argument[lead + d], pool.kernel[d],   pool.stride[d],
                            pool.padding[d],    pool.dilation[d], false};
      window_pairs(axis, outputs, &positions, nullptr);
    }
    demand.axes[lead + d] = std::move(positions);
  }
  return demand;
}

}  // namespace

Demand argument_demand(const Node& node, std::size_t which, const Demand& out, const std::vector<Extents>& arguments,
                       const Extents& own, const Bindings& bindings) {
  const Extents& argument = arguments[which];
  if (is<MapAttr>(node)) {
    Demand demand = through_map(out, own, argument);
    demand.mask = out.mask;
    return demand;
  }
  if (is<ReshapeAttr>(node)) return through_reshape(out, own, argument);
  if (is<ViewAttr>(node)) return through_view(attr<ViewAttr>(node), out, argument, bindings);
  if (is<ReduceAttr>(node)) return through_reduce(attr<ReduceAttr>(node), out, argument);
  if (is<ScanAttr>(node)) return through_scan(attr<ScanAttr>(node), out);
  if (is<ContractAttr>(node)) return through_contract(attr<ContractAttr>(node), which, out, argument);
  if (is<ConvAttr>(node)) return through_conv(attr<ConvAttr>(node), which, out, arguments);
  if (is<GatherAttr>(node)) return through_gather(attr<GatherAttr>(node), which, out, argument);
  if (is<TopAttr>(node)) return through_top(attr<TopAttr>(node), out, argument);
  if (is<ConcatAttr>(node)) {
    Demand demand = out;
    demand.mask = -1;
    const auto axis = static_cast<std::size_t>(attr<ConcatAttr>(node).axis);
    std::int64_t begin = 0;
    for (std::size_t a = 0; a < which; ++a) begin += arguments[a][axis];
    AxisSet part = AxisSet::none(argument[axis]);
    for (std::int64_t i = 0; i < argument[axis]; ++i)
      if (out.axes[axis].contains(begin + i)) part.insert(i);
    demand.axes[axis] = std::move(part);
    return demand;
  }
  return through_pool(node, out, argument);
}

}  // namespace kerf::ir::cost_detail
