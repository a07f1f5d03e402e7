#pragma once
// A task: what is to be computed, on which shapes, how accurately. Read from a file by task/.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expression/expression.hpp"
#include "ir/graph.hpp"

namespace kerf {

/// One choice of the shape symbols. Every set is verified; sets with weight > 0 are timed, and their speedups are
/// combined by weighted geometric mean.
struct ShapeSet {
  std::string name;
  Bindings symbols;
  double weight = 0;
  std::vector<std::string> targets;  ///< the targets it is used for; empty: all of them

  bool applies_to(std::string_view target) const;
};

/// The accuracy class a candidate must reach; what an honest implementation of that class achieves is computed per
/// element.
enum class Precision { f64, f32, tf32, f16, bf16 };
std::string_view precision_name(Precision precision);
std::optional<Precision> precision_from_name(std::string_view name);

/// How the values of one input are drawn when the task says so; otherwise the verifier's own families are used.
struct InputDistribution {
  enum class Kind { normal, uniform, integers, constant } kind = Kind::normal;
  double a = 0;  ///< normal: mean; uniform, integers: lowest; constant: the value
  double b = 1;  ///< normal: deviation; uniform: highest (excluded); integers: highest (included)
  Dim b_dim;     ///< integers: highest as an extent expression ("classes - 1"), used when `b_is_dim`
  bool b_is_dim = false;
  Dim root = 1;  ///< normal, uniform: values are divided by its square root ("normal(0, 1) / sqrt(cols)")
};

/// The same with numbers for extents: `b_is_dim` is false and `root` is 1.
Result<InputDistribution> on_shape(const InputDistribution& given, const Bindings& symbols);

/// A reference given as C++: `template <class real> void reference(const real* x, ..., real* y)` over the task's inputs
/// and outputs, shape symbols visible as constants. Compiled for double (the oracle) and for float (the naive
/// baseline).
struct CppReference {
  std::string path;  ///< as written in the task, for messages
  std::string source;
};

/// A kernel the user wants to be compared with, beside the generated naive one.
struct BaselineSpec {
  std::string name;
  std::string target;
  std::string path;
  std::string source;
};

struct Task {
  std::string name;
  std::string description;
  std::vector<ir::TensorType> inputs;
  std::vector<ir::TensorType> outputs;
  std::vector<ShapeSet> shapes;  ///< at least one; at least one has weight > 0
  Precision precision = Precision::f32;
  bool special_values = true;                                   ///< also test with rare NaN, infinities, denormals
  std::vector<std::optional<InputDistribution>> distributions;  ///< one per input
  std::optional<ir::Graph> graph;                               ///< set when the reference is an expression
  std::optional<CppReference> cpp;                              ///< set when it is C++; exactly one of the two is set
  std::vector<BaselineSpec> baselines;
  bool require_deterministic = false;    ///< the same bits in every call
  bool require_batch_invariant = false;  ///< a row's bits do not depend on the other rows
  std::string batch;  ///< the symbol that is the first extent of every output and of an input; "": there is none
  std::string id;     ///< SHA-256 of everything that defines the semantics
};

/// The sets that are used for `target`, in task order. When none of them has a weight the first gets the weight 1, so
/// that something is timed. Empty when the task has no set for that target.
std::vector<ShapeSet> shapes_for(const Task& task, std::string_view target);

/// Of all inputs and outputs together; tensors whose extents a set leaves open count nothing.
double element_count(const Task& task, const ShapeSet& shape);

}  // namespace kerf
