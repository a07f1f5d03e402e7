#include "export/domain.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "base/text.hpp"
#include "export/parts.hpp"

namespace kerf::exporting {
namespace {

using Relation = ir::Condition::Relation;

/// Collects checks, each once; those that hold for all non-negative symbols are left out.
class Collector {
 public:
  void at_least(std::int64_t least, const Dim& extent) {
    if (extent.is_constant() && extent.constant() >= least) return;
    add({Relation::at_most, least, extent}, fmt::format("{} must be at least {}", extent.to_string(), least));
  }
  void at_most(const Dim& extent, std::int64_t most) {
    if (extent.is_constant() && extent.constant() <= most) return;
    add({Relation::at_most, extent, most}, fmt::format("{} must be at most {}", extent.to_string(), most));
  }
  void relation(const ir::Condition& condition) {
    add(condition, condition.relation == Relation::equal
                       ? fmt::format("{} must equal {}", condition.left.to_string(), condition.right.to_string())
                       : fmt::format("{} must be at most {}", condition.left.to_string(), condition.right.to_string()));
  }
  /// What was collected since the last call.
  std::vector<DomainCheck> take() { return std::exchange(checks_, {}); }

 private:
  void add(ir::Condition condition, std::string refusal) {
    std::vector<Dim> divisors;
    condition.left.collect_divisors(divisors);
    condition.right.collect_divisors(divisors);
    for (const Dim& divisor : divisors) at_least(1, divisor);
    if (known_.insert(to_string(condition)).second) checks_.push_back({std::move(condition), std::move(refusal)});
  }

  std::vector<DomainCheck> checks_;
  std::set<std::string> known_;
};

std::string too_large() { return fmt::format("the buffers take more than {:.0f} GiB", kMaxBytes / (1 << 30)); }

}  // namespace

Domain domain_of(const Task& task) {
  Collector all;
  for (const auto& name : symbol_names(task)) {
    const Dim symbol = Dim::symbol(name);
    all.at_least(0, symbol);
    all.at_most(symbol, kMaxExtent);
  }
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors)
      for (const Dim& extent : tensor.shape) {
        all.at_least(1, extent);
        all.at_most(extent, kMaxExtent);
      }
  Domain domain;
  domain.limits = all.take();
  if (!task.graph) return domain;
  for (const auto& condition : task.graph->conditions) all.relation(condition);
  for (const auto& node : task.graph->nodes)
    for (const Dim& extent : node.shape) {
      all.at_least(0, extent);
      all.at_most(extent, kMaxExtent);
    }
  domain.relations = all.take();
  return domain;
}

std::string refusal_of(const Task& task, const Bindings& symbols) {
  const Domain domain = domain_of(task);
  const auto first_broken = [&](const std::vector<DomainCheck>& checks) -> std::string {
    for (const auto& check : checks)
      if (!holds(check.condition, symbols).value_or(false)) return check.refusal;
    return "";
  };
  if (std::string refusal = first_broken(domain.limits); !refusal.empty()) return refusal;
  double bytes = 0;
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors) {
      double size = static_cast<double>(dtype_size(tensor.dtype));
      for (const Dim& extent : tensor.shape) size *= static_cast<double>(extent.evaluate(symbols).value_or(0));
      bytes += size;
    }
  return bytes > kMaxBytes ? too_large() : first_broken(domain.relations);
}

std::string refusal_statements(const Task& task) {
  const Domain domain = domain_of(task);
  const auto statements = [](const std::vector<DomainCheck>& checks) {
    std::string text;
    for (const auto& check : checks)
      text += fmt::format("  if (!({} {} {})) return \"{}\";\n", check.condition.left.to_c(),
                          check.condition.relation == Relation::equal ? "==" : "<=", check.condition.right.to_c(),
                          check.refusal);
    return text;
  };
  // Products of extents are taken in floating point, where they do not overflow.
  std::vector<std::string> sizes;
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors) {
      std::string size = fmt::format("{}.0", dtype_size(tensor.dtype));
      for (const Dim& extent : tensor.shape) size += fmt::format(" * (double)({})", extent.to_c());
      sizes.push_back(std::move(size));
    }
  return statements(domain.limits) +
         fmt::format("  if ({} > {:.1f}) return \"{}\";\n", join(sizes, " + "), kMaxBytes, too_large()) +
         statements(domain.relations);
}

}  // namespace kerf::exporting
