#pragma once
// From nodes to statements: the value of one element of a node, at an index given as text.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/buffer_plan.hpp"
#include "codegen/code.hpp"
#include "codegen/dialect.hpp"

namespace kerf::codegen {

/// Position of an element, as C expressions: by axis, as the row-major number, or both.
struct Index {
  std::vector<std::string> axes;
  std::string linear;  ///< "" when unknown
  bool by_axis = false;

  static Index of_axes(std::vector<std::string> axes) { return {std::move(axes), "", true}; }
  static Index of_linear(std::string linear) { return {{}, std::move(linear), false}; }
};

/// What a kernel turned out to need.
struct Uses {
  std::set<std::string> helpers;  ///< helper functions, see helpers.hpp
  std::set<std::string> symbols;  ///< shape symbols
  std::vector<int> buffers;       ///< that the kernel reads, in order of first use
};

/// Writes the body of one kernel into `code`. All references are borrowed.
class Lowering {
 public:
  Lowering(const BufferPlan& plan, const DialectTraits& dialect, const NaiveOptions& options, Code& code, Uses& uses)
      : plan_(plan), dialect_(dialect), options_(options), code_(code), uses_(uses) {}

  /// From now on the node's value is `text`, at whatever index it is asked for.
  void bind(ir::NodeId id, std::string text) { bound_[id] = std::move(text); }
  /// The node's value at `index`: what it is bound to, loaded from its buffer, or computed in place.
  std::string value(ir::NodeId id, const Index& index);
  /// The same, never loaded from the node's own buffer; not for scans.
  std::string compute(ir::NodeId id, const Index& index);
  /// Computes the whole line of a scan that `line` (an index of the other axes) names and stores it in `buffer`.
  void scan_line(ir::NodeId id, const std::vector<std::string>& line, int buffer);
  /// Stores a value of the node, at `index`, in `buffer`.
  void store(int buffer, ir::NodeId id, const Index& index, const std::string& value);

  std::string extent(const Dim& dim);  ///< as a 64-bit C expression
  std::vector<std::string> axes_of(const Index& index, const Shape& shape);
  std::string linear_of(const Index& index, const Shape& shape);
  DType type_of(ir::NodeId id) const { return value_type(plan_.graph[id], options_); }
  std::string type_name(DType type) const;  ///< of a local variable
  std::string convert(const std::string& value, DType from, DType to) const;
  /// An operand of a product, in the type of the product and with as many bits as the accuracy class grants.
  std::string operand(ir::NodeId id, std::vector<std::string> at, DType type);
  std::string identity(std::string_view op, DType type) const;  ///< what `combine` starts with
  /// The statement that takes `term` into `total`; `op` as ir::reduce_op_name has it.
  std::string combine(std::string_view op, DType type, const std::string& total, const std::string& term) const;

 private:
  using Axes = std::vector<std::string>;
  const ir::Node& node(ir::NodeId id) const { return plan_.graph[id]; }
  std::string load(ir::NodeId id, const Index& index);
  /// The number that `upper` and `lower`, neighbouring axes, are the quotient and the remainder of, if they are:
  /// compilers do not see that they make up the number again. `shape` and `d` are those of `lower`.
  std::string whole_number(const std::string& upper, const std::string& lower, const Shape& shape, std::size_t d);
  std::string compute_here(ir::NodeId id, const Index& index);
  std::string map_value(ir::NodeId id, const Index& index);
  std::string map_expression(ir::MapOp op, DType type, DType arg_type, const std::vector<std::string>& args);
  /// A spelling of map_ops.def with arguments, literals of `type` and function names filled in.
  std::string spelled(std::string_view pattern, DType type, const std::vector<std::string>& args);
  std::string integer_expression(ir::MapOp op, const std::vector<std::string>& args);
  std::string real_expression(ir::MapOp op, DType type, const std::vector<std::string>& args);
  std::string view_value(ir::NodeId id, const Index& index);
  std::string concat_value(ir::NodeId id, const Axes& at);
  std::string gather_value(ir::NodeId id, const Axes& at);
  std::string top_value(ir::NodeId id, const Axes& at);

  // Loops; results are the accumulator variable.
  std::string reduce_value(ir::NodeId id, const Axes& at);
  std::string contract_value(ir::NodeId id, const Axes& at);
  std::string conv_value(ir::NodeId id, const Axes& at);
  std::string pool_value(ir::NodeId id, const Axes& at);
  std::string adaptive_pool_value(ir::NodeId id, const Axes& at);
  std::string open_loop(const std::string& begin, const std::string& end);  ///< returns the counter
  void open_sum(const Dim& extent, DType type, std::string& accumulator, std::string& counter, bool& blocked);
  void close_sum(const std::string& total, const std::string& accumulator, bool blocked);

  const BufferPlan& plan_;
  const DialectTraits& dialect_;
  const NaiveOptions& options_;
  Code& code_;
  Uses& uses_;
  std::map<ir::NodeId, std::string> bound_;
};

}  // namespace kerf::codegen
