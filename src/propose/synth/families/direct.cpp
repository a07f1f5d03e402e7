// The family of last resort: one work item per element of the root (per line of a scan), as the naive kernel does it.

#include "propose/synth/families/families.hpp"

namespace kerf::synth {
namespace {

class Direct final : public Family {
 public:
  std::string_view name() const override { return "direct"; }

  bool fits(const codegen::BufferPlan&, const Group& group) const override {
    return group.anchors.empty() || (group.anchors.size() == 1 && group.anchors.front() == group.root);
  }

  Result<TemplateValues> fill(const Group& group, const TargetContext&, HookWriter& hooks) const override {
    const ir::Node& node = hooks.plan().graph[group.root];
    Shape items = node.shape;
    const bool scan = !group.copy && ir::is<ir::ScanAttr>(node);
    if (scan) {
      const auto axis = static_cast<std::size_t>(ir::attr<ir::ScanAttr>(node).axis);
      items[axis] = 1;
      std::vector<std::string> line(items.size(), "0");
      Dim rest = 1;  // lines are numbered in row-major order of the other axes
      for (std::size_t d = items.size(); d-- > 0;) {
        if (items[d].is_one()) continue;
        const std::string inner = rest.is_one() ? "item" : "(item / " + hooks.extent(rest) + ")";
        line[d] = "(" + inner + " % " + hooks.extent(items[d]) + ")";
        rest = rest * items[d];
      }
      hooks.scan_line("item", group.root, group.buffer, {"item"}, line);
    } else {
      hooks.store("item", group.root, group.buffer, {"item"}, codegen::Index::of_linear("item"), {});
    }
    TemplateValues values;
    values.extents["ITEMS"] = element_count(items).to_string();
    return values;
  }
};

}  // namespace

const Family& direct_family() {
  static const Direct family;
  return family;
}

}  // namespace kerf::synth
