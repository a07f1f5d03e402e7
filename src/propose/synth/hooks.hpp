#pragma once
// Hooks: small functions written from the graph that a template calls, e.g. to load an operand with its fused prologue
// or to finish and store a result with its fused epilogue.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "codegen/buffer_plan.hpp"
#include "codegen/dialect.hpp"
#include "codegen/lowering.hpp"
#include "codegen/naive.hpp"
#include "propose/synth/calls.hpp"

namespace kerf::synth {

/// An operand that is a plain buffer under a (possibly transposing or slicing) view: element (i0, i1, ...) of the node
/// is `pointer[offset + i0 * strides[0] + i1 * strides[1] + ...]`.
struct DirectAccess {
  int buffer = 0;       ///< index into plan.buffers
  std::string pointer;  ///< its name in the code
  DType dtype = DType::f32;
  Dim offset = 0;
  std::vector<Dim> strides;  ///< one per axis of the node; 0 for broadcast axes
};

/// A node whose value is known under a name inside a hook (an accumulator, an element that was loaded before).
struct Bound {
  ir::NodeId node = 0;
  std::string name;  ///< parameter of the hook; its type is that of the node's value
};

/// Writes the hooks of one group. Buffers are numbered as in the plan; every hook takes the buffers of `$args` first,
/// so a call reads `$load_a($args, i, k)`.
class HookWriter {
 public:
  HookWriter(const codegen::BufferPlan& plan, const codegen::DialectTraits& dialect,
             const codegen::NaiveOptions& options, std::string prefix);

  /// `$name($args, params...[, bound...])`: the value of `node` at `index`, whose texts may use `params` (64-bit
  /// integers named here). Values of `bound` nodes are taken from the arguments instead of being computed.
  void value(const std::string& name, ir::NodeId node, const std::vector<std::string>& params,
             const codegen::Index& index, const std::vector<Bound>& bound = {});

  /// `$name($args, params...)`: the element of a buffer at `offset` plus each parameter times its stride.
  void element(const std::string& name, const DirectAccess& access, const std::vector<std::string>& params,
               const std::vector<Dim>& strides);

  /// `$name($args, params..., bound...)`: finishes `root` from the bound values and stores it at `index` into `buffer`.
  void store(const std::string& name, ir::NodeId root, int buffer, const std::vector<std::string>& params,
             const codegen::Index& index, const std::vector<Bound>& bound);

  /// `$name($args, params...)`: computes the whole line of a scan that `line` (its index, the scan's axis is ignored)
  /// names.
  void scan_line(const std::string& name, ir::NodeId scan, int buffer, const std::vector<std::string>& params,
                 const std::vector<std::string>& line);

  /// How `node` can be read without a hook, if it is a buffer under views only.
  std::optional<DirectAccess> direct(ir::NodeId node) const;

  /// C expression of an extent, usable in the template's code.
  std::string extent(const Dim& dim);
  std::string type_name(ir::NodeId node) const;  ///< C type of the node's value in registers: "float"

  const codegen::BufferPlan& plan() const { return plan_; }
  const codegen::DialectTraits& dialect() const { return dialect_; }
  const codegen::NaiveOptions& options() const { return options_; }
  const std::string& prefix() const { return prefix_; }

  /// Says that the template itself reads (writes) this buffer, so that it is among `$args`.
  void use_buffer(int buffer);
  void use_written(int buffer);

  // For the renderer.
  std::string functions() const;  ///< text of all hooks; kParametersMark stands for the buffers
  const std::vector<int>& written() const { return written_; }
  const codegen::Uses& uses() const { return uses_; }  ///< its buffers are the read ones
  bool defines(const std::string& name) const;

 private:
  struct Hook {
    std::string name, result, parameters, body;
  };
  /// The text that `write` leaves in a fresh function body.
  std::string lower(const std::vector<std::string>& params, const std::vector<Bound>& bound,
                    const std::function<void(codegen::Code&, codegen::Lowering&)>& write);
  void add(const std::string& name, const std::string& result, const std::vector<std::string>& params,
           const std::vector<Bound>& bound, std::string body);

  const codegen::BufferPlan& plan_;
  const codegen::DialectTraits& dialect_;
  codegen::NaiveOptions options_;
  std::string prefix_;
  codegen::Uses uses_;
  std::vector<int> written_;
  std::vector<Hook> hooks_;
};

}  // namespace kerf::synth
