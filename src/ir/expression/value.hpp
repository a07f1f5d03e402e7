#pragma once
// What an expression evaluates to before it becomes nodes.

#include <functional>
#include <string>
#include <vector>

#include "ir/expression/ops.hpp"

namespace kerf::ir {

enum class ValueKind { none, tensor, extent, real, boolean, text, list };

/// An integer is an extent (perhaps symbolic), so that `rows*2` works as a shape and as a number.
struct Value {
  ValueKind kind = ValueKind::none;
  T tensor;
  bool weak = false;  ///< a scalar tensor made of literals and extents only: adopts the other operand's dtype
  Dim extent;
  double real = 0;
  bool boolean = false;
  std::string text;
  std::vector<Value> items;
  std::size_t at = 0;  ///< where it stands in the source
  /// Of a tensor of extremes along an axis: makes the indices that PyTorch returns beside the values, so that [0] and
  /// [1] mean values and indices. Of a list: set when it is such a pair. Empty otherwise.
  std::function<Value()> indices = {};

  static Value of(T tensor) { return {ValueKind::tensor, tensor, false, {}, 0, false, {}, {}, 0}; }
  static Value of(Dim extent) { return {ValueKind::extent, {}, true, std::move(extent), 0, false, {}, {}, 0}; }
  static Value of_real(double real) { return {ValueKind::real, {}, true, {}, real, false, {}, {}, 0}; }
  static Value of_bool(bool boolean) { return {ValueKind::boolean, {}, true, {}, 0, boolean, {}, {}, 0}; }
  static Value of_text(std::string text) { return {ValueKind::text, {}, false, {}, 0, false, std::move(text), {}, 0}; }
  static Value of_list(std::vector<Value> items) {
    return {ValueKind::list, {}, false, {}, 0, false, {}, std::move(items), 0};
  }

  bool is_none() const { return kind == ValueKind::none; }
  /// A tensor, or something that can become one.
  bool is_numeric() const {
    return kind == ValueKind::tensor || kind == ValueKind::extent || kind == ValueKind::real ||
           kind == ValueKind::boolean;
  }
  /// A real, a boolean, an integer, or a scalar tensor that folded to a constant.
  std::optional<double> number() const;
  std::string describe() const;  ///< "a list", "a f32[rows, cols] tensor"; for messages
};

/// The values as tensors of the one dtype that NumPy-like promotion gives them: literals and extents are weak, they
/// keep the dtype of the tensors unless that is of a lower kind (bool < integer < float). An error in `ops` otherwise.
std::vector<T> coerce(Ops& ops, const std::vector<Value>& values);
T to_tensor(Ops& ops, const Value& value);
T to_tensor(Ops& ops, const Value& value, DType dtype);  ///< of exactly this dtype

}  // namespace kerf::ir
