#include "ir/interpret/index.hpp"

#include <algorithm>

namespace kerf::ir::eval {

std::int64_t element_count(const Extents& extents) {
  std::int64_t count = 1;
  for (const auto extent : extents) count *= extent;
  return count;
}

Extents row_major_strides(const Extents& extents) {
  Extents strides(extents.size(), 1);
  for (std::size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

bool ConcreteView::is_affine() const {
  return !fill && std::all_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.modulo == 0; });
}

Result<ConcreteView> concrete(const ViewAttr& view, const Bindings& bindings) {
  ConcreteView result;
  result.fill = view.fill;
  for (const auto& axis : view.axes) {
    ConcreteView::Axis out;
    KERF_TRY(out.offset, axis.offset.evaluate(bindings));
    out.terms = axis.terms;
    if (axis.modulo) {
      KERF_TRY(out.modulo, axis.modulo->evaluate(bindings));
      if (out.modulo <= 0) out.modulo = 1;  // only an empty axis has no modulus, and nothing of it is read
    }
    result.axes.push_back(std::move(out));
  }
  return result;
}

IndexMap identity_map(const Extents& extents) {
  IndexMap map{extents, {}, true};
  for (std::size_t d = 0; d < extents.size(); ++d) {
    AffineAxis axis{0, Extents(extents.size(), 0)};
    axis.coefficients[d] = 1;
    map.axes.push_back(std::move(axis));
  }
  return map;
}

namespace {

/// The identity in its one form when `map` is one, so that equal values are recognised as equal.
IndexMap canonical(IndexMap map, const Extents& node) {
  if (element_count(map.iteration) != element_count(node)) return map;
  const Walk walk = linear_walk(map, node);
  const bool identity = element_count(node) == 0 || (walk.is_contiguous() && walk.base == 0);
  return identity ? identity_map(node) : map;
}

}  // namespace

IndexMap broadcast_map(const IndexMap& map, const Extents& out, const Extents& argument) {
  if (map.identity && out == argument) return map;
  IndexMap result{map.iteration, {}, false};
  const std::size_t shift = out.size() - argument.size();
  for (std::size_t d = 0; d < argument.size(); ++d)
    result.axes.push_back(argument[d] == 1 ? AffineAxis{0, Extents(map.iteration.size(), 0)} : map.axes[d + shift]);
  return canonical(std::move(result), argument);
}

IndexMap view_map(const IndexMap& map, const ConcreteView& view, const Extents& argument) {
  IndexMap result{map.iteration, {}, false};
  for (const auto& source : view.axes) {
    AffineAxis axis{source.offset, Extents(map.iteration.size(), 0)};
    for (const auto& term : source.terms) {
      const AffineAxis& outer = map.axes[static_cast<std::size_t>(term.axis)];
      axis.offset += term.stride * outer.offset;
      for (std::size_t a = 0; a < axis.coefficients.size(); ++a)
        axis.coefficients[a] += term.stride * outer.coefficients[a];
    }
    result.axes.push_back(std::move(axis));
  }
  return view.is_affine() ? canonical(std::move(result), argument) : result;
}

bool Walk::is_uniform() const {
  return std::all_of(strides.begin(), strides.end(), [](std::int64_t stride) { return stride == 0; });
}

bool Walk::is_contiguous() const { return extents.empty() || (extents.size() == 1 && strides[0] == 1); }

Walk merged_walk(std::int64_t base, const Extents& extents, const Extents& strides) {
  Walk walk{base, {}, {}};
  for (std::size_t a = 0; a < extents.size(); ++a) {
    if (extents[a] == 1) continue;
    if (!walk.extents.empty() && walk.strides.back() == strides[a] * extents[a]) {
      walk.extents.back() *= extents[a];
      walk.strides.back() = strides[a];
    } else {
      walk.extents.push_back(extents[a]);
      walk.strides.push_back(strides[a]);
    }
  }
  return walk;
}

Walk linear_walk(const IndexMap& map, const Extents& node) {
  const Extents node_strides = row_major_strides(node);
  std::int64_t base = 0;
  Extents strides(map.iteration.size(), 0);
  for (std::size_t d = 0; d < map.axes.size(); ++d) {
    base += map.axes[d].offset * node_strides[d];
    for (std::size_t a = 0; a < strides.size(); ++a) strides[a] += map.axes[d].coefficients[a] * node_strides[d];
  }
  return merged_walk(base, map.iteration, strides);
}

}  // namespace kerf::ir::eval
