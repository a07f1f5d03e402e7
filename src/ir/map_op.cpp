#include "ir/map_op.hpp"

#include <array>
#include <cmath>
#include <cstddef>

namespace kerf::ir {
namespace {

#define FACTS(...) __VA_ARGS__
#define KERF_MAP_OP(op, values, real, lanes, integer, bound) MapOpFacts{.name = #op, values},
constexpr MapOpFacts kFacts[] = {
#include "ir/map_ops.def"
};
#undef KERF_MAP_OP
#undef FACTS

constexpr std::size_t kCount = std::size(kFacts);

constexpr std::array<MapOp, kCount> kOps = [] {
  std::array<MapOp, kCount> ops{};
  for (std::size_t i = 0; i < kCount; ++i) ops[i] = static_cast<MapOp>(i);
  return ops;
}();

constexpr bool consistent(const MapOpFacts& f) {
  const bool structural = f.arguments == Arguments::selected || f.arguments == Arguments::any;
  if (f.arity < 1 || f.arity > (structural ? 3 : 2)) return false;
  if (structural) return f.c.empty() && f.bound == BoundRule::none;
  if (f.c.empty() || (f.arity == 2) != (f.c.find("{y}") != std::string_view::npos)) return false;
  if (f.gives_bool != (f.bound == BoundRule::none)) return false;  // real results have a bound
  if (f.bound == BoundRule::function && (f.arity != 1 || f.arguments != Arguments::reals)) return false;
  const bool on_integers = f.arguments == Arguments::numbers || f.arguments == Arguments::rounded;
  if (on_integers && f.c_integer.empty()) return false;
  return f.signature[0] == '\0' || f.summary[0] != '\0';
}
constexpr bool all_consistent() {
  for (const MapOpFacts& f : kFacts)
    if (!consistent(f)) return false;
  return true;
}
static_assert(all_consistent(), "an entry of map_ops.def lacks a fact or contradicts itself");

double python_remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// The floor of the exact quotient, as Python has it: a / b rounded first could reach the next integer.
double python_floor_div(double a, double b) {
  if (b == 0) return a / b;
  const double quotient = (a - python_remainder(a, b)) / b;
  return quotient == 0 ? std::copysign(0.0, a / b) : std::nearbyint(quotient);
}

}  // namespace

const MapOpFacts& facts_of(MapOp op) { return kFacts[static_cast<std::size_t>(op)]; }
std::span<const MapOp> all_map_ops() { return kOps; }

#define REAL(...) __VA_ARGS__
#define KERF_MAP_OP(op, values, real, lanes, integer, bound) \
  case MapOp::op: return real;
double map_scalar(MapOp op, double x, [[maybe_unused]] double y) {
  switch (op) {
#include "ir/map_ops.def"
  }
  return x;
}
#undef KERF_MAP_OP
#undef REAL

}  // namespace kerf::ir
