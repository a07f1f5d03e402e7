#pragma once
// One call of a function of the language: its arguments by parameter name, checked and converted.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expression/value.hpp"

namespace kerf::ir {

struct Parameter {
  std::string name;
  bool required = false;
  bool variadic = false;  ///< "*shape": takes all remaining positional arguments, or one list
  Value fallback;
};

/// Parameters of a signature such as `softmax(x, axis=-1)` or `reshape(x, *shape)`. A bug when it is malformed.
std::vector<Parameter> parse_signature(std::string_view signature);

struct Argument {
  std::string keyword;  ///< empty: positional
  Value value;
};

class Call {
 public:
  Call(Ops& operations, std::string name, const std::vector<Parameter>& parameters)
      : ops(operations), name_(std::move(name)), parameters_(parameters) {}

  Ops& ops;

  /// Assigns arguments to parameters; accepts the names that PyTorch and NumPy use for the same thing.
  void bind(std::vector<Argument> arguments);

  const std::string& name() const { return name_; }
  bool has(std::string_view parameter) const;  ///< given, and not none
  const Value& value(std::string_view parameter) const;
  T tensor(std::string_view parameter);
  std::vector<T> tensors(const std::vector<std::string_view>& parameters);  ///< brought to one dtype
  double real(std::string_view parameter);                                  ///< a number known in advance
  /// A constant, or an extent that has the same value in every shape set.
  std::int64_t integer(std::string_view parameter);
  int axis(std::string_view parameter, int rank);               ///< counted from the front
  std::vector<int> axes(std::string_view parameter, int rank);  ///< as given, counted from the front; none: empty
  bool flag(std::string_view parameter);
  std::string word(std::string_view parameter, const std::vector<std::string>& allowed);
  DType dtype(std::string_view parameter);
  Dim extent(std::string_view parameter);
  Shape extents(std::string_view parameter);                                          ///< a list, or one extent
  std::vector<std::int64_t> integers(std::string_view parameter);                     ///< a list, or one integer
  std::vector<std::int64_t> per_axis(std::string_view parameter, std::size_t count);  ///< one integer stands for all

  /// The result of an elementwise function: weak again when all of `arguments` were.
  Value result(T tensor, const std::vector<std::string_view>& arguments) const;
  void fail(const std::string& message);
  void fail(std::string_view parameter, const std::string& message);  ///< points at the argument
  std::size_t error_at() const { return error_at_; }                  ///< 0: at the function's name

 private:
  const Parameter* find(std::string_view name) const;
  std::int64_t fixed_value(std::string_view parameter, const Dim& dim);
  const Parameter* find_alias(std::string_view alias) const;
  std::vector<std::string> parameter_names() const;

  std::string name_;
  const std::vector<Parameter>& parameters_;
  std::map<std::string, Value, std::less<>> values_;
  std::size_t error_at_ = 0;
};

}  // namespace kerf::ir
