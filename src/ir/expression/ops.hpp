#pragma once
// The vocabulary in which the functions of the expression language are written down: tensors with operators, over a
// Builder. The first error is kept and everything after it does nothing, so that a formula reads as a formula; the
// evaluator looks at failed() after every call.

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ir/builder.hpp"

namespace kerf::ir {

class Ops;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A node of the builder behind `ops`; invalid (id < 0) after an error.
struct T {
  Ops* ops = nullptr;
  NodeId id = -1;

  const Shape& shape() const;  ///< empty when invalid
  DType dtype() const;
  int rank() const { return static_cast<int>(shape().size()); }
  Dim extent(int axis) const;  ///< negative axes count from the end; an error when there is none
};

class Ops {
 public:
  explicit Ops(Builder& builder) : builder_(builder) {}

  Builder& builder() { return builder_; }
  bool failed() const { return error_.has_value(); }
  const std::string& error() const { return *error_; }
  void fail(std::string message);  ///< the first one is kept

  T constant(double value, DType dtype);
  T iota(int axis, Shape shape, DType dtype);
  /// The extent as a scalar (i64, then cast): a constant, or read from the end of an index vector.
  T value_of(const Dim& extent, DType dtype);
  T map(MapOp op, const std::vector<T>& args);  ///< maps of scalar constants fold
  T cast(T x, DType dtype);
  T to_float(T x) { return is_float(x.dtype()) ? x : cast(x, DType::f32); }
  T reshape(T x, Shape shape);
  T transpose(T x, const std::vector<int>& order);
  T broadcast_to(T x, Shape shape);
  T view(T x, ViewAttr view, Shape shape);
  T concat(const std::vector<T>& args, int axis);
  T gather(T x, T index, int axis);
  T top(T x, int axis, const Dim& count, bool largest);
  T reduce(ReduceOp op, T x, const std::vector<int>& axes, bool keepdims);
  T scan(const ScanAttr& attr, T x);
  T contract(T lhs, T rhs, ContractAttr attr);
  T matmul(T a, T b);
  T conv(T x, T w, ConvAttr attr);
  T pool(T x, PoolAttr attr, bool ceil_mode);
  T adaptive_pool(PoolOp op, T x, const Shape& output);

  /// `axis` counted from the front, or an error (and 0).
  int axis(int axis, int rank);
  std::vector<int> axes(std::vector<int> axes, int rank);
  /// True when `a <= b` for every shape set, or whatever the symbols are.
  bool provably_at_most(const Dim& a, const Dim& b) const;
  T take(Result<NodeId> node);  ///< its value, or its error kept

 private:
  T invalid() { return T{this, -1}; }
  bool usable(const std::vector<T>& args) const;

  Builder& builder_;
  std::optional<std::string> error_;
};

// Arithmetic; a number takes the tensor's dtype (f32 when that is an integer and the number is not whole).
T operator+(T a, T b);
T operator-(T a, T b);
T operator*(T a, T b);
T operator/(T a, T b);
T operator+(T a, double b);
T operator-(T a, double b);
T operator*(T a, double b);
T operator/(T a, double b);
T operator+(double a, T b);
T operator-(double a, T b);
T operator*(double a, T b);
T operator/(double a, T b);
T operator-(T a);

T number_like(T x, double value);
T apply(MapOp op, T x);
T apply(MapOp op, T a, T b);
T apply(MapOp op, T a, double b);
T select(T condition, T a, T b);
T minimum(T a, double b);
T maximum(T a, double b);
T clamp(T x, double low, double high);

// Reductions that keep their axes with extent 1. `axes` empty: all.
T sum_kept(T x, const std::vector<int>& axes);
T max_kept(T x, const std::vector<int>& axes);
T mean(T x, const std::vector<int>& axes, bool keepdims);
/// Number of elements along `axes` (empty: all).
Dim count_along(T x, const std::vector<int>& axes);
T divide_by(T x, const Dim& count);  ///< x / count, as floats

T unsqueeze(T x, int axis);
T squeeze(T x, int axis);

}  // namespace kerf::ir
