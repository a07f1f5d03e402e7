#include "propose/synth/families/row_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace kerf::synth {
namespace {

constexpr std::size_t kMostPlaces = 4;  // of one node; graphs that read a node at more are left to other families

using ir::attr;
using ir::is;
using ir::NodeId;

Shape without_ones(const Shape& shape) {
  Shape rest;
  std::copy_if(shape.begin(), shape.end(), std::back_inserter(rest), [](const Dim& d) { return !d.is_one(); });
  return rest;
}

}  // namespace

std::vector<int> true_axes(const Shape& shape) {
  std::vector<int> axes;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (!shape[d].is_one()) axes.push_back(static_cast<int>(d));
  return axes;
}

std::string factor(const std::string& text) {
  const bool atom =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return atom || (text.starts_with('(') && text.find(')') + 1 == text.size()) ? text : "(" + text + ")";
}

std::string linear_text(const Shape& shape, const std::vector<std::string>& texts, HookWriter& hooks) {
  std::string text;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].is_one()) continue;
    if (text.empty() || text == "0")
      text = texts[d];
    else
      text = fmt::format("{} * {} + {}", factor(text), hooks.extent(shape[d]), texts[d]);
  }
  return text.empty() ? "0" : text;
}

std::vector<std::string> unravel_text(const std::string& number, const Shape& shape, HookWriter& hooks) {
  std::vector<std::string> texts(shape.size(), "0");
  const std::vector<int> axes = true_axes(shape);
  Dim below = 1;
  for (std::size_t k = axes.size(); k-- > 0;) {
    const auto d = static_cast<std::size_t>(axes[k]);
    std::string text = below.is_one() ? number : fmt::format("({} / {})", number, hooks.extent(below));
    if (k > 0) text = fmt::format("({} % {})", text, hooks.extent(shape[d]));
    texts[d] = text;
    below = below * shape[d];
  }
  return texts;
}

std::uint64_t Domain::reduced_mask() const {
  std::uint64_t mask = 0;
  for (std::size_t d = 0; d < reduced.size(); ++d)
    if (reduced[d]) mask |= std::uint64_t{1} << d;
  return mask;
}

Shape Domain::kept_shape() const {
  Shape kept;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (!reduced[d]) kept.push_back(shape[d]);
  return kept;
}

/// Whether `id` is a domain-shaped value in other axes: then their numbers of elements agree, whatever their extents
/// look like.
bool Places::renames(NodeId id) const {
  if (shape(id) == domain_.shape) return true;
  const ir::Node& node = plan_.graph[id];
  if (plan_.location[static_cast<std::size_t>(id)] >= 0) return false;
  if (is<ir::ReshapeAttr>(node)) return renames(node.args[0]);
  return is<ir::MapAttr>(node) && std::any_of(node.args.begin(), node.args.end(),
                                              [&](NodeId arg) { return shape(arg) == node.shape && renames(arg); });
}

bool Places::follow(NodeId root) {
  if (domain_.shape.size() > 60) return false;
  Place place;
  place.axes.assign(shape(root).size(), Place::kUnknown);
  if (element_count(shape(root)) == element_count(domain_.shape) || renames(root)) {
    place.whole = true;
    for (std::size_t d = 0; d < domain_.shape.size(); ++d) place.depends |= std::uint64_t{1} << d;
  } else if (element_count(shape(root)) == element_count(domain_.kept_shape())) {
    place.kept = true;
    for (std::size_t d = 0; d < domain_.shape.size(); ++d)
      if (!domain_.reduced[d]) place.depends |= std::uint64_t{1} << d;
  } else {
    return false;
  }
  settle(place, shape(root));
  return visit(root, std::move(place));
}

const Place* Places::only(NodeId node) const {
  const auto found = places_.find(node);
  return found != places_.end() && found->second.size() == 1 ? &found->second.front() : nullptr;
}

std::uint64_t Places::depends(NodeId node) const {
  std::uint64_t mask = 0;
  if (const auto found = places_.find(node); found != places_.end())
    for (const Place& place : found->second) mask |= place.depends;
  return mask;
}

/// Brings a place into its one form: axes named where the numbering names them, and the other way round.
void Places::settle(Place& place, const Shape& own) const {
  for (std::size_t d = 0; d < own.size(); ++d)
    if (own[d].is_one()) place.axes[d] = Place::kZero;
  const std::vector<int> axes = true_axes(own);
  const auto numbered = [&](bool& flag, bool all) {
    std::vector<int> variables;
    Shape extents, mine;
    for (std::size_t d = 0; d < domain_.shape.size(); ++d)
      if (!domain_.shape[d].is_one() && (all || !domain_.reduced[d])) {
        variables.push_back(static_cast<int>(d));
        extents.push_back(domain_.shape[d]);
      }
    for (const int d : axes) mine.push_back(own[static_cast<std::size_t>(d)]);
    if (!(mine == extents)) return;
    if (flag) {
      for (std::size_t k = 0; k < axes.size(); ++k) place.axes[static_cast<std::size_t>(axes[k])] = variables[k];
    } else {
      flag = true;
      for (std::size_t k = 0; k < axes.size(); ++k)
        flag = flag && place.axes[static_cast<std::size_t>(axes[k])] == variables[k];
    }
  };
  numbered(place.whole, true);
  numbered(place.kept, false);
  if (std::none_of(place.axes.begin(), place.axes.end(), [](int a) { return a == Place::kUnknown; })) {
    place.depends = 0;
    for (const int a : place.axes)
      if (a >= 0) place.depends |= std::uint64_t{1} << a;
  }
}

Place Places::reshaped(const Place& place, const Shape& from, const Shape& to) const {
  Place result;
  result.axes.assign(to.size(), Place::kUnknown);
  result.depends = place.depends;
  result.whole = place.whole;
  result.kept = place.kept;
  if (without_ones(from) == without_ones(to)) {
    const auto source = true_axes(from), target = true_axes(to);
    for (std::size_t k = 0; k < source.size(); ++k)
      result.axes[static_cast<std::size_t>(target[k])] = place.axes[static_cast<std::size_t>(source[k])];
  }
  settle(result, to);
  return result;
}

bool Places::visit(NodeId id, Place place) {
  auto& known = places_[id];
  if (std::find(known.begin(), known.end(), place) != known.end()) return true;
  if (known.size() == kMostPlaces) return false;
  known.push_back(place);
  if (plan_.location[static_cast<std::size_t>(id)] >= 0) return true;
  const ir::Node& node = plan_.graph[id];
  if (is<ir::ConstantAttr>(node) || is<ir::IotaAttr>(node)) return true;
  if (is<ir::MapAttr>(node)) return visit_map(id, place);
  if (is<ir::ViewAttr>(node)) return visit_view(id, place);
  if (is<ir::ReduceAttr>(node)) return visit_reduce(id, place);
  if (is<ir::ScanAttr>(node)) return place.whole && node.shape == domain_.shape && visit(node.args[0], place);
  if (is<ir::ReshapeAttr>(node)) return visit(node.args[0], reshaped(place, node.shape, shape(node.args[0])));
  return false;
}

bool Places::visit_map(NodeId id, const Place& place) {
  const ir::Node& node = plan_.graph[id];
  return std::all_of(node.args.begin(), node.args.end(), [&](NodeId arg) {
    const Shape& own = shape(arg);
    Place inner;
    inner.depends = place.depends;
    inner.axes.assign(place.axes.end() - static_cast<std::ptrdiff_t>(own.size()), place.axes.end());
    if (element_count(own) == element_count(node.shape)) {
      inner.whole = place.whole;
      inner.kept = place.kept;
    }
    settle(inner, own);
    return visit(arg, std::move(inner));
  });
}

bool Places::visit_view(NodeId id, const Place& place) {
  const ir::Node& node = plan_.graph[id];
  const auto& view = attr<ir::ViewAttr>(node);
  const Shape& source = shape(node.args[0]);
  Place inner;
  inner.depends = place.depends;
  inner.axes.assign(source.size(), Place::kUnknown);
  for (std::size_t d = 0; d < source.size(); ++d) {
    const auto& map = view.axes[d];
    if (map.modulo || !(map.offset == Dim(0))) continue;
    if (map.terms.empty()) inner.axes[d] = Place::kZero;
    if (map.terms.size() != 1 || map.terms[0].stride != 1) continue;
    const auto axis = static_cast<std::size_t>(map.terms[0].axis);
    if (node.shape[axis] == source[d]) inner.axes[d] = place.axes[axis];
  }
  settle(inner, source);
  return visit(node.args[0], std::move(inner));
}

bool Places::visit_reduce(NodeId id, const Place& place) {
  const ir::Node& node = plan_.graph[id];
  const auto& reduce = attr<ir::ReduceAttr>(node);
  const Shape& source = shape(node.args[0]);
  if (source.size() != domain_.shape.size() || places_[id].size() > 1) return false;
  Place inner;
  inner.axes.assign(source.size(), Place::kZero);
  for (std::size_t d = 0, out = 0; d < source.size(); ++d) {
    if (!(source[d] == domain_.shape[d])) return false;
    const bool gone = std::find(reduce.axes.begin(), reduce.axes.end(), static_cast<int>(d)) != reduce.axes.end();
    if (gone != domain_.reduced[d] && !source[d].is_one()) return false;
    const int variable = static_cast<int>(d);
    if (!gone && !source[d].is_one() && place.axes[out] != variable) return false;
    if (!source[d].is_one()) inner.axes[d] = variable;
    if (!gone || reduce.keepdims) ++out;
  }
  settle(inner, source);
  return visit(node.args[0], std::move(inner));
}

}  // namespace kerf::synth
