#include "ir/interpret/naive.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kerf::ir::naive {
namespace {

using Index = std::vector<std::int64_t>;

void for_each(const Index& extents, const std::function<void(const Index&)>& visit) {
  std::int64_t count = 1;
  for (const auto extent : extents) count *= extent;
  Index index(extents.size(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    visit(index);
    for (std::size_t d = extents.size(); d-- > 0;) {
      if (++index[d] < extents[d]) break;
      index[d] = 0;
    }
  }
}

std::size_t position(const Index& extents, const Index& index) {
  std::int64_t at = 0;
  for (std::size_t d = 0; d < extents.size(); ++d) at = at * extents[d] + index[d];
  return static_cast<std::size_t>(at);
}

/// One element; which member counts depends on the tensor.
struct Scalar {
  double real = 0;
  std::int64_t integer = 0;
};

Scalar get(const Tensor& t, const Index& index) {
  const std::size_t p = position(t.extents, index);
  return t.floating ? Scalar{t.reals[p], 0} : Scalar{0, t.integers[p]};
}
void set(Tensor& t, const Index& index, Scalar value) {
  const std::size_t p = position(t.extents, index);
  if (t.floating)
    t.reals[p] = value.real;
  else
    t.integers[p] = value.integer;
}

std::int64_t python_mod(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : ((a % b) + b) % b; }
std::int64_t python_div(std::int64_t a, std::int64_t b) { return b == 0 ? 0 : (a - python_mod(a, b)) / b; }

template <class T>
std::int64_t compare(MapOp op, T x, T y) {
  switch (op) {
    case MapOp::less: return x < y;
    case MapOp::less_equal: return x <= y;
    case MapOp::greater: return x > y;
    case MapOp::greater_equal: return x >= y;
    case MapOp::equal: return x == y;
    case MapOp::not_equal: return x != y;
    default: return -1;
  }
}

std::int64_t integer_map(MapOp op, std::int64_t x, std::int64_t y) {
  switch (op) {
    case MapOp::add: return x + y;
    case MapOp::sub: return x - y;
    case MapOp::mul: return x * y;
    case MapOp::floor_div: return python_div(x, y);
    case MapOp::remainder: return python_mod(x, y);
    case MapOp::minimum: return std::min(x, y);
    case MapOp::maximum: return std::max(x, y);
    case MapOp::neg: return -x;
    case MapOp::abs: return std::abs(x);
    case MapOp::sign: return x > 0 ? 1 : x < 0 ? -1 : x;
    case MapOp::logical_and: return x != 0 && y != 0;
    case MapOp::logical_or: return x != 0 || y != 0;
    case MapOp::logical_xor: return (x != 0) != (y != 0);
    case MapOp::logical_not: return x == 0;
    case MapOp::is_nan: return 0;
    case MapOp::floor:
    case MapOp::ceil:
    case MapOp::round:
    case MapOp::trunc: return x;
    default: return -1;
  }
}

class Evaluator {
 public:
  Evaluator(const Graph& graph, std::span<const HostTensor> inputs, const Bindings& bindings)
      : graph_(graph), inputs_(inputs), bindings_(bindings) {}

  std::vector<Tensor> run() {
    for (const Node& node : graph_.nodes) {
      Tensor t;
      t.extents = kerf::evaluate(node.shape, bindings_).value();
      t.floating = is_float(node.dtype);
      (t.floating ? t.reals.resize(static_cast<std::size_t>(t.count()))
                  : t.integers.resize(static_cast<std::size_t>(t.count())));
      values_.push_back(std::move(t));
      std::visit([&](const auto& a) { compute(node, a, values_.back()); }, node.attr);
    }
    std::vector<Tensor> outputs;
    for (const auto& output : graph_.outputs) outputs.push_back(values_[static_cast<std::size_t>(output.node)]);
    return outputs;
  }

 private:
  const Tensor& arg(const Node& node, std::size_t i) const { return values_[static_cast<std::size_t>(node.args[i])]; }
  static Scalar number(const Tensor& t, double value) {
    return t.floating ? Scalar{value, 0} : Scalar{0, static_cast<std::int64_t>(value)};
  }
  static Scalar add(Scalar a, Scalar b) { return {a.real + b.real, a.integer + b.integer}; }
  static Scalar multiply(Scalar a, Scalar b) { return {a.real * b.real, a.integer * b.integer}; }
  static bool nan(Scalar a) { return std::isnan(a.real); }
  static bool less(Scalar a, Scalar b) { return a.real < b.real || a.integer < b.integer; }
  /// Of max (or min): whether `a` replaces `best`.
  static bool beats(Scalar a, Scalar best, bool max) {
    if (nan(best)) return false;
    return nan(a) || (max ? less(best, a) : less(a, best));
  }
  static Scalar lowest(const Tensor& t) {
    return {t.floating ? -INFINITY : 0, std::numeric_limits<std::int64_t>::min()};
  }

  void compute(const Node&, const InputAttr& a, Tensor& out) {
    for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
      if (graph_.inputs[i].name != a.name) continue;
      for (std::size_t p = 0; p < static_cast<std::size_t>(out.count()); ++p) {
        const double value = load_element(inputs_[i].dtype, inputs_[i].bytes.data(), p);
        if (out.floating)
          out.reals[p] = value;
        else
          out.integers[p] = static_cast<std::int64_t>(value);
      }
    }
  }
  void compute(const Node&, const ConstantAttr& a, Tensor& out) {
    for_each(out.extents, [&](const Index& i) { set(out, i, number(out, a.value)); });
  }
  void compute(const Node&, const IotaAttr& a, Tensor& out) {
    for_each(out.extents, [&](const Index& i) {
      set(out, i, number(out, static_cast<double>(i[static_cast<std::size_t>(a.axis)])));
    });
  }
  void compute(const Node& node, const MapAttr& a, Tensor& out) {
    for_each(out.extents, [&](const Index& i) {
      Scalar x[3];
      for (std::size_t n = 0; n < node.args.size(); ++n) {
        const Tensor& t = arg(node, n);
        Index at(i.end() - static_cast<std::ptrdiff_t>(t.extents.size()), i.end());
        for (std::size_t d = 0; d < at.size(); ++d)
          if (t.extents[d] == 1) at[d] = 0;
        x[n] = get(t, at);
      }
      set(out, i, map(a.op, node, x, arg(node, 0).floating));
    });
  }
  Scalar map(MapOp op, const Node& node, const Scalar* x, bool floating) const {
    if (op == MapOp::select) return x[0].integer != 0 ? x[1] : x[2];
    if (op == MapOp::cast) {
      if (is_float(node.dtype)) return {floating ? x[0].real : static_cast<double>(x[0].integer), 0};
      if (node.dtype == DType::boolean) return {0, floating ? x[0].real != 0 : x[0].integer != 0};
      return {0, floating ? static_cast<std::int64_t>(x[0].real) : x[0].integer};
    }
    if (op == MapOp::is_nan) return {0, floating && std::isnan(x[0].real)};
    if (is_comparison(op))
      return {0, floating ? compare(op, x[0].real, x[1].real) : compare(op, x[0].integer, x[1].integer)};
    if (!floating) {
      const std::int64_t result = integer_map(op, x[0].integer, x[1].integer);
      return {0, node.dtype == DType::boolean ? result != 0 : result};
    }
    return {map_scalar(op, x[0].real, x[1].real), 0};
  }
  void compute(const Node& node, const ReshapeAttr&, Tensor& out) {
    out.reals = arg(node, 0).reals;
    out.integers = arg(node, 0).integers;
  }
  void compute(const Node& node, const ViewAttr& a, Tensor& out) {
    const Tensor& in = arg(node, 0);
    for_each(out.extents, [&](const Index& i) {
      Index from;
      bool inside = true;
      for (std::size_t d = 0; d < a.axes.size(); ++d) {
        std::int64_t j = a.axes[d].offset.evaluate(bindings_).value();
        for (const auto& term : a.axes[d].terms) j += term.stride * i[static_cast<std::size_t>(term.axis)];
        if (a.axes[d].modulo) j = python_mod(j, a.axes[d].modulo->evaluate(bindings_).value());
        inside = inside && j >= 0 && j < in.extents[d];
        from.push_back(j);
      }
      set(out, i, inside ? get(in, from) : number(out, a.fill.value()));
    });
  }
  void compute(const Node& node, const ConcatAttr& a, Tensor& out) {
    const auto axis = static_cast<std::size_t>(a.axis);
    std::int64_t shift = 0;
    for (std::size_t n = 0; n < node.args.size(); ++n) {
      for_each(arg(node, n).extents, [&](const Index& i) {
        Index to = i;
        to[axis] += shift;
        set(out, to, get(arg(node, n), i));
      });
      shift += arg(node, n).extents[axis];
    }
  }
  void compute(const Node& node, const GatherAttr& a, Tensor& out) {
    const Tensor &x = arg(node, 0), &index = arg(node, 1);
    const auto axis = static_cast<std::size_t>(a.axis);
    for_each(out.extents, [&](const Index& i) {
      Index place = i, from = i;
      for (std::size_t d = 0; d < place.size(); ++d)
        if (index.extents[d] == 1) place[d] = 0;
      from[axis] = get(index, place).integer;
      const bool inside = from[axis] >= 0 && from[axis] < x.extents[axis];
      set(out, i, inside ? get(x, from) : number(out, 0));
    });
  }
  void compute(const Node& node, const TopAttr& a, Tensor& out) {
    const Tensor& x = arg(node, 0);
    const auto axis = static_cast<std::size_t>(a.axis);
    const auto key = [&](const Index& i) {
      const Scalar s = get(x, i);
      return x.floating ? s.real : static_cast<double>(s.integer);
    };
    for_each(x.extents, [&](const Index& i) {  // its rank: how many come before it
      std::int64_t rank = 0;
      Index other = i;
      for (other[axis] = 0; other[axis] < x.extents[axis]; ++other[axis]) {
        const double mine = key(i), theirs = key(other);
        const bool same = mine == theirs || (std::isnan(mine) && std::isnan(theirs));
        const bool larger = std::isnan(theirs) ? !std::isnan(mine) : theirs > mine;
        rank += same ? other[axis] < i[axis] : larger == a.largest;
      }
      Index to = i;
      to[axis] = rank;
      if (rank < out.extents[axis]) set(out, to, {0, i[axis]});
    });
  }
  void compute(const Node& node, const ReduceAttr& a, Tensor& out) {
    const Tensor& in = arg(node, 0);
    const bool is_arg = a.op == ReduceOp::argmax || a.op == ReduceOp::argmin;
    const bool max = a.op == ReduceOp::max || a.op == ReduceOp::argmax;
    std::vector<char> started(static_cast<std::size_t>(out.count()), 0);
    std::vector<Scalar> best(started.size());
    const double start = a.op == ReduceOp::prod || a.op == ReduceOp::all ? 1 : 0;
    for_each(out.extents, [&](const Index& i) { set(out, i, number(out, start)); });
    for_each(in.extents, [&](const Index& i) {
      Index to;
      std::int64_t along = 0;
      for (std::size_t d = 0; d < i.size(); ++d) {
        const bool reduced = std::find(a.axes.begin(), a.axes.end(), static_cast<int>(d)) != a.axes.end();
        if (reduced) along = i[d];
        if (!reduced || a.keepdims) to.push_back(reduced ? 0 : i[d]);
      }
      const std::size_t p = position(out.extents, to);
      const Scalar x = get(in, i), before = get(out, to);
      if (a.op == ReduceOp::sum) return set(out, to, add(before, x));
      if (a.op == ReduceOp::prod) return set(out, to, multiply(before, x));
      if (a.op == ReduceOp::any) return set(out, to, {0, before.integer != 0 || x.integer != 0});
      if (a.op == ReduceOp::all) return set(out, to, {0, before.integer != 0 && x.integer != 0});
      if (started[p] != 0 && !beats(x, best[p], max)) return;
      started[p] = 1;
      best[p] = x;
      set(out, to, is_arg ? Scalar{0, along} : x);
    });
  }
  void compute(const Node& node, const ScanAttr& a, Tensor& out) {
    const Tensor& in = arg(node, 0);
    const auto axis = static_cast<std::size_t>(a.axis);
    for_each(out.extents, [&](const Index& i) {
      Scalar value = number(out, a.op == ScanOp::prod ? 1 : 0);
      if (a.op == ScanOp::max) value = lowest(out);
      if (a.op == ScanOp::min) value = {out.floating ? INFINITY : 0, std::numeric_limits<std::int64_t>::max()};
      const std::int64_t here = i[axis];
      for (std::int64_t j = 0; j < in.extents[axis]; ++j) {
        const std::int64_t distance = a.reverse ? j - here : here - j;
        if (distance < (a.exclusive ? 1 : 0)) continue;
        Index from = i;
        from[axis] = j;
        const Scalar x = get(in, from);
        if (a.op == ScanOp::sum)
          value = add(value, x);
        else if (a.op == ScanOp::prod)
          value = multiply(value, x);
        else if (beats(x, value, a.op == ScanOp::max))
          value = x;
      }
      set(out, i, value);
    });
  }
  void compute(const Node& node, const ContractAttr& a, Tensor& out) {
    const Tensor &l = arg(node, 0), &r = arg(node, 1);
    std::vector<std::int64_t> extent(64, 1);
    std::vector<int> labels = a.out;
    const auto collect = [&](const std::vector<int>& names, const Tensor& t) {
      for (std::size_t d = 0; d < names.size(); ++d) {
        extent[static_cast<std::size_t>(names[d])] = t.extents[d];
        if (std::find(labels.begin(), labels.end(), names[d]) == labels.end()) labels.push_back(names[d]);
      }
    };
    collect(a.lhs, l);
    collect(a.rhs, r);
    Index space;
    for (const int label : labels) space.push_back(extent[static_cast<std::size_t>(label)]);
    for_each(space, [&](const Index& i) {
      const auto pick = [&](const std::vector<int>& names) {
        Index at;
        for (const int name : names)
          at.push_back(i[static_cast<std::size_t>(std::find(labels.begin(), labels.end(), name) - labels.begin())]);
        return at;
      };
      set(out, pick(a.out), add(get(out, pick(a.out)), multiply(get(l, pick(a.lhs)), get(r, pick(a.rhs)))));
    });
  }
  void compute(const Node& node, const ConvAttr& a, Tensor& out) {
    const Tensor &x = arg(node, 0), &w = arg(node, 1);
    const std::size_t rank = x.extents.size() - 2;
    const Tensor& small = a.transposed ? out : x;  // the side whose index is computed from the other's and the tap
    Index space = a.transposed ? x.extents : out.extents;
    const std::int64_t groups = *a.groups.evaluate(bindings_);
    const std::int64_t other_channels = small.extents[1] / groups;
    space.push_back(other_channels);
    space.insert(space.end(), w.extents.begin() + 2, w.extents.end());
    const std::int64_t channels = space[1] / groups;
    for_each(space, [&](const Index& i) {
      const std::int64_t group = i[1] / channels;
      Index there{i[0], group * other_channels + i[2 + rank]}, tap;
      for (std::size_t d = 0; d < rank; ++d) {
        tap.push_back(i[3 + rank + d]);
        there.push_back(i[2 + d] * a.stride[d] + tap[d] * a.dilation[d] - a.padding[d]);
        if (there.back() < 0 || there.back() >= small.extents[2 + d]) return;
      }
      const Index here(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(2 + rank));
      Index weight{i[1], i[2 + rank]};
      weight.insert(weight.end(), tap.begin(), tap.end());
      const Index &from = a.transposed ? here : there, &to = a.transposed ? there : here;
      set(out, to, add(get(out, to), multiply(get(x, from), get(w, weight))));
    });
  }
  void compute(const Node& node, const PoolAttr& a, Tensor& out) {
    const std::size_t lead = out.extents.size() - a.kernel.size();
    pool(
        arg(node, 0), out, a.op,
        [&](const Index& i, std::size_t d, std::vector<std::int64_t>& window) {
          for (std::int64_t k = 0; k < a.kernel[d - lead]; ++k)
            window.push_back(i[d] * a.stride[d - lead] + k * a.dilation[d - lead] - a.padding[d - lead]);
        },
        lead);
  }
  void compute(const Node& node, const AdaptivePoolAttr& a, Tensor& out) {
    const Tensor& in = arg(node, 0);
    const std::size_t lead = out.extents.size() - static_cast<std::size_t>(a.rank);
    pool(
        in, out, a.op,
        [&](const Index& i, std::size_t d, std::vector<std::int64_t>& window) {
          const std::int64_t n = in.extents[d], m = out.extents[d];
          for (std::int64_t j = i[d] * n / m; j < ((i[d] + 1) * n + m - 1) / m; ++j) window.push_back(j);
        },
        lead);
  }
  static void pool(const Tensor& in, Tensor& out, PoolOp op,
                   const std::function<void(const Index&, std::size_t, std::vector<std::int64_t>&)>& window_of,
                   std::size_t lead) {
    for_each(out.extents, [&](const Index& i) {
      Scalar value = op == PoolOp::max ? lowest(out) : Scalar{};
      std::vector<std::vector<std::int64_t>> windows;
      Index sizes;
      for (std::size_t d = lead; d < i.size(); ++d) {
        window_of(i, d, windows.emplace_back());
        sizes.push_back(static_cast<std::int64_t>(windows.back().size()));
      }
      for_each(sizes, [&](const Index& k) {
        Index from = i;
        for (std::size_t d = 0; d < windows.size(); ++d) {
          from[lead + d] = windows[d][static_cast<std::size_t>(k[d])];
          if (from[lead + d] < 0 || from[lead + d] >= in.extents[lead + d]) return;
        }
        const Scalar x = get(in, from);
        if (op == PoolOp::sum)
          value = add(value, x);
        else if (beats(x, value, true))
          value = x;
      });
      set(out, i, value);
    });
  }

  const Graph& graph_;
  std::span<const HostTensor> inputs_;
  const Bindings& bindings_;
  std::vector<Tensor> values_;
};

}  // namespace

std::vector<Tensor> evaluate(const Graph& graph, std::span<const HostTensor> inputs, const Bindings& bindings) {
  return Evaluator(graph, inputs, bindings).run();
}

}  // namespace kerf::ir::naive
