#pragma once
// Groups with their chosen variants -> one candidate file.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "base/result.hpp"
#include "codegen/dialect.hpp"
#include "model/candidate.hpp"
#include "propose/synth/catalogue.hpp"
#include "propose/synth/family.hpp"
#include "propose/synth/partition.hpp"
#include "propose/synth/section.hpp"
#include "propose/synth/trim.hpp"

namespace kerf::synth {

/// How one group is computed.
struct Choice {
  const Family* family = nullptr;
  const Variant* variant = nullptr;
  Bindings parameters;
  int structure = 0;  ///< of the group, as Layout has it

  /// Two groups of which this holds are computed by the same kernels, with other buffers.
  bool same_kernels(const Choice& other) const {
    return structure == other.structure && variant == other.variant && parameters == other.parameters;
  }
};

/// Names in a variant's requirements replaced by extents and parameter values; each must hold for every shape.
bool allowed(const Variant& variant, const TemplateValues& values, const Bindings& parameters,
             const std::vector<ShapeSet>& shapes);

/// The same for its preferences, on the timed shapes.
bool preferred(const Variant& variant, const TemplateValues& values, const Bindings& parameters,
               const std::vector<ShapeSet>& shapes);

/// Products that a variant computes with its unit for one of the task, padding included, on `shape`.
double work_of(const Variant& variant, const TemplateValues& values, const Bindings& parameters, const Bindings& shape);

/// Writes candidate files for one task on one target and remembers the parts, so that the next composition, which has
/// most of them, costs little. Borrows both arguments. Not thread-safe.
class Renderer {
 public:
  Renderer(const TargetContext& context, const OutputLanguage& language);

  /// One choice per group, in order. The source of the candidate is complete and ordinary.
  Result<Candidate> render(const Partition& partition, const std::vector<Choice>& choices, const std::string& name);

  /// Whether one group can be written by a choice. Groups do not depend on each other's choices, so that a composition
  /// can be written when each of its groups can; this is much cheaper where there are many.
  Status check_group(const codegen::BufferPlan& plan, const Group& group, const Choice& choice);

 private:
  /// A section with what is read off its code when it first becomes part of a file.
  struct Part {
    Section section;
    bool read = false;
    std::vector<std::set<std::string>> functions;  ///< identifiers of each function of the code
    std::set<std::string> words;                   ///< of the code
  };
  Result<Part*> part(const GroupView& view, const Choice& choice);
  Result<std::string> used_layer(const std::set<std::string>& words);  ///< what code with these words needs of it

  const TargetContext& context_;
  const OutputLanguage& language_;
  std::map<std::tuple<int, const Variant*, std::vector<std::string>>, Part> parts_;  // structure, names of buffers
  std::optional<Layer> layer_;
};

}  // namespace kerf::synth
