#pragma once
// Syntax tree to graph: names, operators, calls, indexing.

#include <map>
#include <string>
#include <vector>

#include "ir/expression/parser.hpp"
#include "ir/expression/value.hpp"

namespace kerf::ir {

/// Runs the statements of a program over one builder. Used once.
class Evaluator {
 public:
  Evaluator(const Source& source, const Program& program, Builder& builder)
      : source_(source), program_(program), builder_(builder), ops_(builder) {}

  void define_symbol(const std::string& name) { fixed_[name] = Value::of(Dim::symbol(name)); }
  void define_input(const std::string& name, NodeId node) { fixed_[name] = Value::of(T{&ops_, node}); }
  Status run();
  /// The value of a name as a tensor node.
  Result<NodeId> output(const std::string& name);

 private:
  Value evaluate(ExprId id);
  Value evaluate_leaf(const Expr& expr);
  Value apply_postfix(const Expr& expr, Value base);
  Value evaluate_name(const Expr& expr);
  Value evaluate_call(const Expr& expr);
  Value evaluate_index(const Expr& expr, const Value& base);
  Value evaluate_attribute(const Expr& expr, const Value& base);
  Value part_of_pair(const Expr& expr, const Value& base, const Dim& position);
  std::optional<Dim> evaluate_bound(ExprId id);
  std::vector<std::string> known_names() const;
  void fail(std::size_t at, const std::string& message);
  void check_limits(const Value& value, std::size_t at);

  const Source& source_;
  const Program& program_;
  Builder& builder_;
  Ops ops_;
  std::size_t error_at_ = 0;  // where the error kept in ops_ is reported
  std::map<std::string, Value, std::less<>> fixed_;
  std::map<std::string, Value, std::less<>> variables_;
  std::map<std::string, int> occurrences_;  // per composite function, for origins
};

}  // namespace kerf::ir
