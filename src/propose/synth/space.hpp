#pragma once
// The choices a task has on a target: partitions of its rewrites, and what may compute each group.

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/rng.hpp"
#include "propose/synth/genome.hpp"
#include "propose/synth/group_view.hpp"
#include "propose/synth/render.hpp"

namespace kerf::synth {

/// A variant that can compute a group, with what is needed to choose its parameters.
struct Option {
  const Family* family = nullptr;
  const Variant* variant = nullptr;
  TemplateValues values;
  Bindings
      defaults;  ///< an allowed tuple, as near to the manifest's defaults as possible, preferred if there is such a one
  double work = 1;  ///< products computed with the variant's unit for one of the task, with these defaults
};

/// A partition with the options of each of its groups, best guess first.
struct Layout {
  Partition partition;
  std::vector<std::span<const Option>> options;  ///< per group; never empty; owned by the space
  std::vector<int> structure;                    ///< per group; equal numbers: equal structure, the same options
};

/// Not thread-safe (it remembers layouts, and the options of every structure that a group had).
class Space {
 public:
  Space(std::vector<ir::Graph> rewrites, TargetContext context, OutputLanguage language, std::vector<Variant> variants);

  std::size_t rewrites() const { return rewrites_.size(); }
  const ir::Graph& graph(int rewrite) const { return of(rewrite).graph; }
  const TargetContext& context() const { return context_; }
  const OutputLanguage& language() const { return language_; }

  /// Null when some group has no option.
  const Layout* layout(int rewrite, const Roots& roots);
  /// The operator that no family covers in the least fused layout; "" when all are covered.
  std::string uncovered(int rewrite);

  /// The least fused choice of stored nodes, then one fusion more each, up to the most fused one. Elementwise results
  /// that later loops could take in are stored where the programs that come of it should be faster.
  const std::vector<Roots>& fusion_steps(int rewrite);
  /// Microseconds that the first options of a layout should take (group_facts.hpp); infinite when there is none.
  double expected_us(int rewrite, const Roots& roots);

  /// An allowed tuple drawn at random.
  Bindings draw(const Option& option, Rng& rng) const;
  /// `parameters` with one value changed, or none when nothing else is allowed.
  std::optional<Bindings> step(const Option& option, const Bindings& parameters, Rng& rng) const;
  /// The allowed tuple that has as many of the wanted values as can be, each the nearest that its tunable takes; other
  /// names are passed over.
  Bindings nearest(const Option& option, const Bindings& wanted) const;

 private:
  struct Rewrite {
    codegen::SharedGraph graph;
    Structures::Words words;
  };
  struct Known {
    std::vector<Option> options;  ///< empty: nothing can compute such a group
    int number = 0;               ///< of the structure
  };
  const Rewrite& of(int rewrite) const { return rewrites_[static_cast<std::size_t>(rewrite)]; }
  const Known& known(int rewrite, const codegen::BufferPlan& plan, const Group& group);
  /// Its variants that can compute the group, which are none when it does not fit.
  std::vector<Option> options_of(const Family& family, const codegen::BufferPlan& inside, const Group& group) const;
  std::optional<Bindings> default_parameters(const Variant& variant, const TemplateValues& values) const;
  bool serves(const Variant& variant) const;  ///< it is in the task's language and reaches its precision
  bool specially_fits(int rewrite, const codegen::BufferPlan& plan, const Group& group);

  std::vector<Rewrite> rewrites_;
  TargetContext context_;
  OutputLanguage language_;
  std::vector<Variant> variants_;
  Structures structures_;
  std::map<StructureKey, Known> known_;                               // its elements stay where they are
  std::map<std::pair<int, Roots>, std::unique_ptr<Layout>> layouts_;  // null: not legal
  std::map<int, std::vector<Roots>> fusion_steps_;
};

}  // namespace kerf::synth
