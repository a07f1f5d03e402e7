#pragma once
// Groups with their chosen variants -> one candidate file.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "codegen/dialect.hpp"
#include "model/candidate.hpp"
#include "propose/synth/catalogue.hpp"
#include "propose/synth/family.hpp"
#include "propose/synth/partition.hpp"

namespace kerf::synth {

/// How one group is computed.
struct Choice {
  const Family* family = nullptr;
  const Variant* variant = nullptr;
  Bindings parameters;
};

/// What the renderer and the legality checks share about the target's language.
struct OutputLanguage {
  codegen::DialectTraits dialect;
  codegen::NaiveOptions options;
  std::vector<std::string> headers;  ///< the dialect layer's files under kernels/, in order
  std::set<std::string> taken;       ///< the task's names: symbols, inputs, outputs
};

/// The plan as the group's hooks see it: its own root is computed, not loaded.
codegen::BufferPlan inside(const codegen::BufferPlan& plan, const Group& group);

/// Names in a variant's requirements replaced by extents and parameter values; each must hold for every shape.
bool allowed(const Variant& variant, const TemplateValues& values, const Bindings& parameters,
             const std::vector<ShapeSet>& shapes);

/// One choice per group, in order. The source of the candidate is complete and ordinary.
Result<Candidate> render(const Partition& partition, const std::vector<Choice>& choices, const TargetContext& context,
                         const OutputLanguage& language, const std::string& name);

/// Whether one group can be written by a choice. Groups do not depend on each other's choices, so that a composition
/// can be written when each of its groups can; this is much cheaper where there are many.
Status check_group(const Partition& partition, std::size_t number, const Choice& choice, const TargetContext& context,
                   const OutputLanguage& language);

}  // namespace kerf::synth
