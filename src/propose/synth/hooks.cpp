#include "propose/synth/hooks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "codegen/code.hpp"

namespace kerf::synth {

using codegen::Buffer;
using codegen::Code;
using codegen::Index;
using codegen::Lowering;
using ir::NodeId;

HookWriter::HookWriter(const codegen::BufferPlan& plan, const codegen::DialectTraits& dialect,
                       const codegen::NaiveOptions& options, std::string prefix)
    : plan_(plan), dialect_(dialect), options_(options), prefix_(std::move(prefix)) {}

std::string HookWriter::lower(const std::vector<std::string>& params, const std::vector<Bound>& bound,
                              const std::function<void(Code&, Lowering&)>& write) {
  std::set<std::string> own(params.begin(), params.end());
  for (const Bound& b : bound) own.insert(b.name);
  Code code(1, *plan_.names, std::move(own));
  Lowering lowering(plan_, dialect_, options_, code, uses_);
  for (const Bound& b : bound) lowering.bind(b.node, b.name);
  write(code, lowering);
  return code.text();
}

void HookWriter::value(const std::string& name, NodeId node, const std::vector<std::string>& params, const Index& index,
                       const std::vector<Bound>& bound) {
  add(name, type_name(node), params, bound, lower(params, bound, [&](Code& code, Lowering& lowering) {
        code.line(fmt::format("return {};", lowering.value(node, index)));
      }));
}

void HookWriter::element(const std::string& name, const DirectAccess& access, const std::vector<std::string>& params,
                         const std::vector<Dim>& strides) {
  use_buffer(access.buffer);
  std::vector<std::string> terms;
  if (!(access.offset == Dim(0))) terms.push_back(extent(access.offset));
  for (std::size_t p = 0; p < params.size(); ++p) {
    if (strides[p] == Dim(0)) continue;
    terms.push_back(strides[p].is_one() ? params[p] : fmt::format("{} * {}", params[p], extent(strides[p])));
  }
  add(name, codegen::memory_type(dialect_, access.dtype), params, {},
      fmt::format("  return {}[{}];\n", access.pointer, terms.empty() ? "0" : join(terms, " + ")));
}

void HookWriter::store(const std::string& name, NodeId root, int buffer, const std::vector<std::string>& params,
                       const Index& index, const std::vector<Bound>& bound) {
  use_written(buffer);
  add(name, "void", params, bound, lower(params, bound, [&](Code&, Lowering& lowering) {
        lowering.store(buffer, root, index, lowering.value(root, index));
      }));
}

void HookWriter::scan_line(const std::string& name, NodeId scan, int buffer, const std::vector<std::string>& params,
                           const std::vector<std::string>& line) {
  use_written(buffer);
  add(name, "void", params, {},
      lower(params, {}, [&](Code&, Lowering& lowering) { lowering.scan_line(scan, line, buffer); }));
}

void HookWriter::add(const std::string& name, const std::string& result, const std::vector<std::string>& params,
                     const std::vector<Bound>& bound, std::string body) {
  std::vector<std::string> parameters{std::string(kParametersMark)};
  for (const std::string& parameter : params) parameters.push_back("kerf_index " + parameter);
  for (const Bound& b : bound) parameters.push_back(type_name(b.node) + " " + b.name);
  hooks_.push_back({name, result, join(parameters, ", "), std::move(body)});
}

std::optional<DirectAccess> HookWriter::direct(NodeId node) const {
  const ir::Node& n = plan_.graph[node];
  if (const int buffer = plan_.location[static_cast<std::size_t>(node)]; buffer >= 0) {
    const Buffer& from = plan_.buffers[static_cast<std::size_t>(buffer)];
    DirectAccess access{buffer, from.parameter, from.dtype, 0, std::vector<Dim>(n.shape.size())};
    Dim stride = 1;
    for (std::size_t d = n.shape.size(); d-- > 0;) {
      access.strides[d] = n.shape[d].is_one() ? Dim(0) : stride;
      stride = stride * n.shape[d];
    }
    return access;
  }
  if (ir::is<ir::ReshapeAttr>(n)) {  // only extents of 1 come or go
    const auto inner = direct(n.args[0]);
    if (!inner) return {};
    const Shape& source = plan_.graph[n.args[0]].shape;
    DirectAccess access = *inner;
    access.strides.assign(n.shape.size(), Dim(0));
    std::size_t s = 0;
    for (std::size_t d = 0; d < n.shape.size(); ++d) {
      if (n.shape[d].is_one()) continue;
      while (s < source.size() && source[s].is_one()) ++s;
      if (s == source.size() || !(source[s] == n.shape[d])) return {};
      access.strides[d] = inner->strides[s++];
    }
    while (s < source.size() && source[s].is_one()) ++s;
    if (s != source.size()) return {};
    return access;
  }
  if (!ir::is<ir::ViewAttr>(n)) return {};
  const auto& view = ir::attr<ir::ViewAttr>(n);
  const auto inner = direct(n.args[0]);
  if (!inner || view.fill) return {};
  DirectAccess access = *inner;
  access.strides.assign(n.shape.size(), Dim(0));
  for (std::size_t d = 0; d < view.axes.size(); ++d) {
    if (view.axes[d].modulo) return {};
    access.offset = access.offset + inner->strides[d] * view.axes[d].offset;
    for (const auto& term : view.axes[d].terms) {
      Dim& stride = access.strides[static_cast<std::size_t>(term.axis)];
      stride = stride + inner->strides[d] * Dim(term.stride);
    }
  }
  return access;
}

std::string HookWriter::extent(const Dim& dim) {
  std::string text;
  lower({}, {}, [&](Code&, Lowering& lowering) { text = lowering.extent(dim); });
  return text;
}

std::string HookWriter::type_name(NodeId node) const {
  const DType type = codegen::value_type(plan_.graph[node], options_);
  return type == DType::boolean ? "int" : codegen::memory_type(dialect_, type);
}

void HookWriter::use_buffer(int buffer) {
  if (std::find(uses_.buffers.begin(), uses_.buffers.end(), buffer) == uses_.buffers.end())
    uses_.buffers.push_back(buffer);
}

void HookWriter::use_written(int buffer) {
  if (std::find(written_.begin(), written_.end(), buffer) == written_.end()) written_.push_back(buffer);
}

bool HookWriter::defines(const std::string& name) const {
  return std::any_of(hooks_.begin(), hooks_.end(), [&](const Hook& hook) { return hook.name == name; });
}

std::string HookWriter::functions() const {
  std::string text;
  for (const Hook& hook : hooks_)
    text += fmt::format("KERF_FN {} {}_{}({}) {{\n{}}}\n", hook.result, prefix_, hook.name, hook.parameters, hook.body);
  return text;
}

}  // namespace kerf::synth
