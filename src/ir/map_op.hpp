#pragma once
// Elementwise operators and what is known about them. map_ops.def is the table.

#include <span>
#include <string_view>

namespace kerf::ir {

/// Arguments broadcast as in NumPy (shapes aligned right; an extent that is literally 1 stretches). All arguments of
/// arithmetic operators have the node's dtype (the builder inserts casts); comparison arguments have one common dtype;
/// `select`'s first argument is bool. `minimum` and `maximum` propagate NaN, `round` is half to even. `cast` converts
/// to the node's dtype (float to integer truncates, anything to bool is != 0).
enum class MapOp {
#define KERF_MAP_OP(name, facts, real, lanes, integer, bound) name,
#include "ir/map_ops.def"
#undef KERF_MAP_OP
};

/// What the arguments are brought to, and with them the result unless that is bool.
enum class Arguments {
  numbers,   ///< one common number type; bools count as i64
  rounded,   ///< the same, and what is not a float passes unchanged
  reals,     ///< one common float type; integers become f32
  compared,  ///< one common type
  bools,     ///< bool
  selected,  ///< a bool and two of one common type
  any,       ///< as they are
};

/// What computing it once more costs; the one definition of expensive.
enum class CostClass {
  cheap,     ///< an instruction or two
  division,  ///< a division or a root: several times that, and special units on GPUs
  function,  ///< a polynomial or a library call: worth keeping rather than computing again
};

/// Where naive checks and tests may draw arguments from.
enum class Domain { all, positive };

/// Which rule of error_bound_map.cpp bounds the error; `function`: the BOUND of the table.
enum class BoundRule { function, sum, product, quotient, power, extreme, unchanged, step, none };

/// The defaults are those of a function of one real number.
struct MapOpFacts {
  std::string_view name = "";  ///< stored; never renamed
  int arity = 1;
  Arguments arguments = Arguments::reals;
  bool gives_bool = false;
  CostClass cost = CostClass::function;
  bool library_call = false;  ///< the interpreter calls the C library, element by element
  bool exact = false;         ///< representable arguments give a representable result, without rounding
  bool non_negative = false;  ///< whatever the arguments are
  bool keeps_size = true;     ///< results may be as large as the arguments
  bool drops_nan = false;     ///< kernels need not hand on a NaN among the arguments, as in comparisons
  Domain domain = Domain::all;
  BoundRule bound = BoundRule::function;
  /// C expression on floats and on 64-bit integers ("": there and back through floats). {x} {y}: arguments, {1}: a
  /// literal of the type, {exp}: the math function of the type and language, {!int_div}: a helper of codegen/helpers.
  std::string_view c = "", c_integer = "";
  std::string_view native = "";  ///< function that languages which have it use instead
  /// In expressions: how it is called ("": not by name), a line for the documentation, more names by spaces.
  const char* signature = "";
  const char* summary = "";
  const char* other_names = "";
};

const MapOpFacts& facts_of(MapOp op);
std::span<const MapOp> all_map_ops();

inline std::string_view map_op_name(MapOp op) { return facts_of(op).name; }
inline int map_op_arity(MapOp op) { return facts_of(op).arity; }
inline bool is_comparison(MapOp op) { return facts_of(op).arguments == Arguments::compared; }
inline bool is_expensive(MapOp op) { return facts_of(op).cost == CostClass::function; }

/// The value on doubles by the C library; not for `select` and `cast`. Operators of one argument ignore y.
double map_scalar(MapOp op, double x, double y);

}  // namespace kerf::ir
