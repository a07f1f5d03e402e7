#include "oracle/inputs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/hash.hpp"
#include "base/memory.hpp"
#include "base/parallel.hpp"
#include "base/rng.hpp"
#include "oracle/footprint.hpp"
#include "oracle/input_uses.hpp"

namespace kerf::oracle {
namespace {

/// Sum of four 16-bit uniforms, centred and scaled to deviation 1, with all bits of a mantissa below; one element in
/// 512 is stretched, the more the rarer, so that there is no largest one.
double bell(std::uint64_t bits) {
  const auto sum =
      static_cast<double>((bits & 0xffff) + ((bits >> 16) & 0xffff) + ((bits >> 32) & 0xffff) + (bits >> 48));
  const std::uint64_t more = mix64(bits ^ 0x6a09e667f3bcc909ULL);
  const double fine = static_cast<double>(more & 0xffffffff) * 0x1.0p-48;
  const int zeros = std::countl_zero(more);
  const double stretch = zeros > 8 ? 1 + 0.25 * (zeros - 8) : 1.0;
  return (sum / 65536.0 - 2.0 + 0x1.8p-16 + fine) * 1.7320508075688772 * stretch;
}

double unit(std::uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1.0p-53; }

double log_uniform(std::uint64_t bits) {
  const int exponent = static_cast<int>(bits % 20) - 10;
  const double mantissa = 1.0 + unit(bits >> 5 << 5);
  return std::ldexp((bits & (1ULL << 63)) != 0 ? -mantissa : mantissa, exponent);
}

/// Kinds follow each other from one that the stream decides.
int kind_of(std::uint64_t stream, std::int64_t place, int kinds) {
  const auto all = static_cast<std::uint64_t>(kinds);
  return static_cast<int>((stream % all + static_cast<std::uint64_t>(place) % all) % all);
}

/// NaN, the infinities, and an infinity with another or NaN close behind it follow each other, one in so many elements.
constexpr int kNonfiniteKinds = 5;
constexpr std::int64_t kNonfinitePeriod = 16384;

/// One element of each period is NaN or (where there may be any) infinite, every 64th on average a zero or a denormal.
double special(std::uint64_t bits, std::uint64_t stream, std::int64_t index, std::int64_t count, bool infinities) {
  // Small tensors get one non-finite element too, at a place the seed decides.
  const std::int64_t block = index / kNonfinitePeriod, period = std::min(count, kNonfinitePeriod);
  const std::uint64_t place = mix64(stream + static_cast<std::uint64_t>(block)) % static_cast<std::uint64_t>(period);
  constexpr double kInf = std::numeric_limits<double>::infinity(), kNaN = std::numeric_limits<double>::quiet_NaN();
  const int kind = infinities ? kind_of(stream, block, kNonfiniteKinds) : 0;
  if (static_cast<std::uint64_t>(index % period) == place) {
    const double choices[] = {kNaN, kInf, -kInf, kInf, -kInf};
    return choices[kind];
  }
  if (kind > 2 &&
      static_cast<std::uint64_t>(index % period) == (place + 1 + stream % 5) % static_cast<std::uint64_t>(period))
    return kind == 3 ? -kInf : kNaN;
  if (bits % 64 == 0) {
    const double choices[] = {0.0, -0.0, 0x1.8p-130, -0x1.0p-149};
    return choices[(bits >> 20) % 4];
  }
  return bell(mix64(bits));
}

/// Kinds of rows, in the order in which they follow each other. Their number is a prime, so that rows a power of two
/// apart are of different kinds. `scaled` inputs are of one of them as a whole.
enum RowKind {
  zero,
  constant,
  tiny,
  huge,
  shifted_up,
  shifted_down,
  below_8,    ///< wholly below -8
  below_1e4,  ///< wholly below -1e4, where the octaves reach so far
  above_100,  ///< wholly above 100, likewise
  ordinary,
  any_scale,
  kRowKinds
};
/// Kinds of masked rows: the end of the row, single elements, all but one element, the beginning; nothing, or all of
/// it.
constexpr int kMaskKinds = 5;

/// So many octaves reach beyond 1e4 and 100.
constexpr int kOctavesFor1e4 = 10, kOctavesFor100 = 6;

/// 2^e (1 + something below 1), e within `octaves` of zero, at the kind's end of the range.
double scale_of(int kind, std::uint64_t bits, int octaves) {
  int exponent = static_cast<int>(bits % static_cast<std::uint64_t>(2 * octaves + 1)) - octaves;
  const int inwards = static_cast<int>(bits % static_cast<std::uint64_t>(octaves / 2 + 1));
  if (kind == tiny) exponent = inwards - octaves;
  if (kind == huge) exponent = octaves - inwards;
  if (kind == below_8) exponent = -1;
  if (kind == below_1e4) exponent = octaves >= kOctavesFor1e4 ? 8 : -1;
  if (kind == above_100 || kind == ordinary) exponent = 0;
  return std::ldexp(1.0 + unit(mix64(bits)), exponent);
}

/// Nothing, up to 128 deviations to either side, or what puts the whole row below or above a number.
double offset_of(int kind, std::uint64_t bits, double scale, int octaves) {
  const double size = 1.0 + unit(mix64(bits));
  const int reach = octaves >= 2 ? 7 : 3;
  const double shift = std::ldexp(scale * size, static_cast<int>((bits >> 8) % static_cast<std::uint64_t>(reach)));
  switch (kind) {
    case shifted_up: return shift;
    case shifted_down: return -shift;
    case below_8: return -16.0 * size;
    case below_1e4: return (octaves >= kOctavesFor1e4 ? -20000.0 : -16.0) * size;
    case above_100: return octaves >= kOctavesFor100 ? 128.0 * size : shift;
    default: return 0;
  }
}

std::uint64_t row_bits(std::uint64_t stream, std::int64_t row) {
  return mix64(stream ^ mix64(static_cast<std::uint64_t>(row) + 0x517cc1b727220a95ULL));
}

/// Two bits of mantissa: sums of equal terms are exact then. Else the roundings of a running sum all go one way, and
/// what a plain kernel loses in a constant row would excuse errors in all others.
double cut(double value) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & 0xfffc000000000000ULL); }

double row_value(std::uint64_t bits, std::uint64_t stream, std::int64_t index, const InputDraw& input) {
  const std::int64_t row = index / static_cast<std::int64_t>(input.a);
  const std::uint64_t own = row_bits(stream, row);
  const int kind = kind_of(stream, row, kRowKinds), octaves = static_cast<int>(std::abs(input.b));
  if (kind == zero) return 0;
  const double scale = scale_of(kind, own >> 3, octaves);
  if (kind == constant) return input.b < 0 ? scale * bell(own) : cut(scale * bell(own));
  return offset_of(kind, mix64(own), scale, octaves) + scale * bell(bits);
}

/// Masks that are powers of two, or 0: sums of a row that is hidden whole are exact.
constexpr double kRowMask = -0x1p30, kRowMaskF16 = -0x1p14;
bool hides_rows(double mask) { return mask == kRowMask || mask == kRowMaskF16 || mask == 0; }

double masked_value(std::uint64_t bits, std::uint64_t stream, std::int64_t index, const InputDraw& input) {
  const auto length = static_cast<std::int64_t>(input.a);
  const std::int64_t row = index / length, column = index % length;
  const auto place = static_cast<std::int64_t>((row_bits(stream, row) >> 1) % static_cast<std::uint64_t>(length));
  bool hidden = false;
  switch (kind_of(stream, row, kMaskKinds)) {
    case 0: hidden = column > place; break;
    case 1: hidden = bits % 8 == 0; break;
    case 2: hidden = column != place; break;
    case 3: hidden = column < place; break;
    default: hidden = hides_rows(input.b); break;
  }
  return hidden ? input.b : bell(mix64(bits));
}

double family_value(const InputDraw& input, std::uint64_t bits, std::uint64_t stream, std::int64_t index,
                    std::int64_t count) {
  switch (input.pattern) {
    case Pattern::normal: return bell(bits);
    case Pattern::log_uniform: return log_uniform(bits);
    case Pattern::spikes: return bits % 500 == 0 ? 300.0 * bell(mix64(bits)) : bell(mix64(bits));
    case Pattern::integers: return static_cast<double>(bits % 9) - 4.0;
    case Pattern::positive: return unit(bits);
    case Pattern::negative: return -unit(bits);
    case Pattern::specials: return special(bits, stream, index, count, input.a != 0);
    case Pattern::scaled: return input.b + input.a * bell(bits);
    case Pattern::rows: return row_value(bits, stream, index, input);
    case Pattern::masked: return masked_value(bits, stream, index, input);
    case Pattern::ties: return bell(mix64(stream ^ (bits % 4)));
  }
  return 0;
}

double given_value(const InputDistribution& d, double highest, std::uint64_t bits) {
  switch (d.kind) {
    case InputDistribution::Kind::normal: return d.a + d.b * bell(bits);
    case InputDistribution::Kind::uniform: return d.a + (d.b - d.a) * unit(bits);
    case InputDistribution::Kind::integers: return d.a + std::floor(unit(bits) * (highest - d.a + 1));
    case InputDistribution::Kind::constant: return d.a;
  }
  return 0;
}

}  // namespace

std::string_view pattern_name(Pattern pattern) {
  switch (pattern) {
    case Pattern::normal: return "normal";
    case Pattern::log_uniform: return "log_uniform";
    case Pattern::spikes: return "spikes";
    case Pattern::integers: return "integers";
    case Pattern::positive: return "positive";
    case Pattern::negative: return "negative";
    case Pattern::specials: return "specials";
    case Pattern::scaled: return "scaled";
    case Pattern::rows: return "rows";
    case Pattern::masked: return "masked";
    case Pattern::ties: return "ties";
  }
  return "unknown";
}

bool has_scale(Pattern pattern) { return pattern == Pattern::scaled || pattern == Pattern::rows; }

Result<ir::HostTensor> draw(const ir::TensorType& type, const Bindings& symbols, const InputDraw& input,
                            const std::optional<InputDistribution>& symbolic) {
  KERF_TRY(auto extents, evaluate(type.shape, symbols));
  std::optional<InputDistribution> given;
  if (symbolic) {
    KERF_TRY(given, on_shape(*symbolic, symbols));
  }
  ir::HostTensor tensor = ir::make_tensor(type.dtype, std::move(extents));
  const std::int64_t count = tensor.elements();
  const std::uint64_t stream = mix64(input.seed);
  parallel_for(count, 65536, 0, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const std::uint64_t bits = mix64(stream + static_cast<std::uint64_t>(i));
      double value;
      if (given) {
        value = given_value(*given, given->b, bits);
      } else if (type.dtype == DType::boolean) {
        value = static_cast<double>(bits & 1);
      } else if (is_integer(type.dtype)) {
        value = static_cast<double>(bits % 9) - 4.0;
      } else {
        value = family_value(input, bits, stream, i, count);
      }
      store_element(type.dtype, tensor.bytes.data(), static_cast<std::size_t>(i), value);
    }
  });
  return tensor;
}

namespace {

/// A 16-bit float has few octaves, and sums of it need room.
int octaves_for(DType dtype, int wanted) { return dtype == DType::f16 ? std::min(wanted, 5) : wanted; }

/// What masked elements are; all but the first for inputs that are not multiplied.
enum class Mask : std::uint8_t { low, lowest, infinite, rows };

double mask_for(DType dtype, Mask mask) {
  if (mask == Mask::infinite) return -std::numeric_limits<double>::infinity();
  if (mask == Mask::rows) return dtype == DType::f16 ? kRowMaskF16 : kRowMask;
  if (mask == Mask::low) return dtype == DType::f16 ? -1e4 : -1e9;
  if (dtype == DType::f16) return -65504.0;
  return dtype == DType::bf16 ? -0x1.FEp127 : -static_cast<double>(std::numeric_limits<float>::max());
}

bool has_products(const Task& task) {
  return task.graph && std::ranges::any_of(task.graph->nodes, [](const ir::Node& node) {
           return ir::is<ir::ContractAttr>(node) || ir::is<ir::ConvAttr>(node);
         });
}

}  // namespace

bool has_reductions(const Task& task) {
  return !task.graph || std::ranges::any_of(task.graph->nodes, [](const ir::Node& node) {
    return ir::is<ir::ReduceAttr>(node) || ir::is<ir::ScanAttr>(node) || ir::is<ir::PoolAttr>(node) ||
           ir::is<ir::AdaptivePoolAttr>(node);
  });
}

bool has_sums(const Task& task) {
  return !task.graph || std::ranges::any_of(task.graph->nodes, [](const ir::Node& node) {
    if (const auto* reduce = std::get_if<ir::ReduceAttr>(&node.attr))
      return reduce->op == ir::ReduceOp::sum || reduce->op == ir::ReduceOp::prod;
    if (const auto* scan = std::get_if<ir::ScanAttr>(&node.attr))
      return scan->op == ir::ScanOp::sum || scan->op == ir::ScanOp::prod;
    if (const auto* pool = std::get_if<ir::PoolAttr>(&node.attr)) return pool->op == ir::PoolOp::sum;
    return ir::is<ir::ContractAttr>(node) || ir::is<ir::ConvAttr>(node) || ir::is<ir::AdaptivePoolAttr>(node);
  });
}

namespace {

struct Rows {
  std::int64_t count = 1, length = 1;
};

/// A row is what lies along the last axis; vectors are cut into pieces.
Result<Rows> rows_of(const ir::TensorType& type, const Bindings& symbols) {
  KERF_TRY(const auto extents, evaluate(type.shape, symbols));
  std::int64_t all = 1;
  for (const std::int64_t extent : extents) all *= extent;
  const std::int64_t last = extents.empty() ? 1 : extents.back();
  const std::int64_t length = std::max<std::int64_t>(extents.size() > 1 ? last : std::min<std::int64_t>(last, 64), 1);
  return Rows{std::max<std::int64_t>((all + length - 1) / length, 1), length};
}

/// Products of products, and what only picks or scales their results: another factor of an input is another factor of
/// the results.
bool only_multiplies(const ir::Graph& graph) {
  return std::ranges::all_of(graph.nodes, [](const ir::Node& node) {
    if (const auto* map = std::get_if<ir::MapAttr>(&node.attr))
      return map->op == ir::MapOp::mul || map->op == ir::MapOp::neg || map->op == ir::MapOp::maximum ||
             map->op == ir::MapOp::minimum;
    return ir::is<ir::InputAttr>(node) || ir::is<ir::ConstantAttr>(node) || ir::is<ir::ViewAttr>(node) ||
           ir::is<ir::ReshapeAttr>(node) || ir::is<ir::ContractAttr>(node) || ir::is<ir::ConvAttr>(node);
  });
}

/// A kernel that starts its sums of products at a bias is honest, but loses what is far below the bias. Inputs of tasks
/// that may add to products keep within a few octaves of each other.
bool adds_to_products(const Task& task, std::size_t free_inputs) {
  return free_inputs >= 3 && has_products(task) && !only_multiplies(*task.graph);
}
/// Of these, a task where an input itself is added to what has products in it.
bool adds_inputs_to_products(const ir::Graph& graph) {
  std::vector<bool> has_products, has_inputs;  // of every node; arguments come before what uses them
  for (const ir::Node& node : graph.nodes) {
    bool products = ir::is<ir::ContractAttr>(node) || ir::is<ir::ConvAttr>(node), inputs = ir::is<ir::InputAttr>(node);
    bool all_products = !node.args.empty(), adds = false;
    if (const auto* map = std::get_if<ir::MapAttr>(&node.attr))
      adds = map->op == ir::MapOp::add || map->op == ir::MapOp::sub;
    for (const ir::NodeId arg : node.args) {
      const auto at = static_cast<std::size_t>(arg);
      products = products || has_products[at];
      inputs = inputs || has_inputs[at];
      all_products = all_products && (has_products[at] || !has_inputs[at]);
    }
    if (adds && products && !all_products) return true;
    has_products.push_back(products);
    has_inputs.push_back(inputs);
  }
  return false;
}
constexpr int kNarrowOctaves = 2;
/// Tiny inputs are no nearer to 1 than the widest draw has them, until no more than so many octaves are left.
constexpr int kLeastOctavesForFar = 6;

bool is_given(const Task& task, std::size_t input) {
  return input < task.distributions.size() && task.distributions[input].has_value();
}

/// Inputs that the pattern decides about.
std::vector<std::size_t> free_inputs(const Task& task) {
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < task.inputs.size(); ++i)
    if (is_float(task.inputs[i].dtype) && !is_given(task, i)) free.push_back(i);
  return free;
}

InputUses uses_in(const Task& task, std::size_t input) {
  return task.graph ? uses_of(*task.graph, task.inputs[input].name) : InputUses{};
}

/// Products with the lowest number overflow in one order and not in another.
bool may_be_lowest(const Task& task, std::size_t input) {
  const InputUses uses = uses_in(task, input);
  return !uses.multiplied && !uses.contracted;
}

std::vector<Mask> masks_of(const Task& task, const std::vector<std::size_t>& free) {
  if (std::ranges::none_of(free, [&](std::size_t i) { return may_be_lowest(task, i); })) return {Mask::low};
  // Who promises finite inputs gets no infinite ones.
  if (!task.special_values) return {Mask::low, Mask::lowest, Mask::rows};
  return {Mask::low, Mask::lowest, Mask::infinite, Mask::rows};
}

/// Inputs and masks that masked draws take in turn.
std::size_t mask_turns(const Task& task, const std::vector<std::size_t>& free) {
  return std::max<std::size_t>(free.size(), 1) * masks_of(task, free).size();
}

/// The first seed after this one whose stream begins with the wanted kind of row.
std::uint64_t seed_that_begins_with(std::uint64_t seed, std::uint64_t wanted, std::uint64_t kinds) {
  while (mix64(seed) % kinds != wanted % kinds) seed = mix64(seed + 1);
  return seed;
}

/// Patterns whose tensors are made of pieces of several kinds.
bool has_kinds(Pattern pattern) {
  return pattern == Pattern::rows || pattern == Pattern::masked || pattern == Pattern::specials;
}
int kinds_of(Pattern pattern) {
  return pattern == Pattern::rows ? kRowKinds : pattern == Pattern::masked ? kMaskKinds : kNonfiniteKinds;
}

/// Into so many pieces a tensor is cut, each of one kind.
std::int64_t pieces_of(const Rows& rows, Pattern pattern) {
  if (pattern != Pattern::specials) return rows.count;
  return std::max<std::int64_t>(rows.count * rows.length / kNonfinitePeriod, 1);
}

}  // namespace

Result<int> draws_for_all_kinds(const Task& task, const ShapeSet& shape, Pattern pattern) {
  const auto free = free_inputs(task);
  if (!free.empty() && pattern == Pattern::scaled) return kRowKinds;
  if (free.empty() || !has_kinds(pattern)) return 1;
  // Vectors beside tensors (a bias, weights of a norm) are cut into pieces, of which there may be few.
  const bool has_tensors = std::ranges::any_of(free, [&](std::size_t i) { return task.inputs[i].shape.size() > 1; });
  const std::int64_t kinds = kinds_of(pattern);
  std::int64_t fewest = kinds;
  for (const std::size_t i : free) {
    if (task.inputs[i].shape.size() <= 1 && has_tensors) continue;
    KERF_TRY(const Rows rows, rows_of(task.inputs[i], shape.symbols));
    fewest = std::min(fewest, pieces_of(rows, pattern));
  }
  // Rows of every kind stand first once: kernels have been told what data they get by its first row.
  if (pattern == Pattern::rows) return kRowKinds;
  const auto draws = static_cast<int>((kinds + fewest - 1) / fewest);
  if (pattern == Pattern::masked) return std::max(draws, static_cast<int>(mask_turns(task, free)));
  return pattern == Pattern::specials ? draws * static_cast<int>(free.size()) : draws;
}

Result<std::vector<InputDraw>> input_draws(const Task& task, const ShapeSet& shape, const DataDraw& data) {
  const auto free = free_inputs(task);
  const auto turn =
      data.turn >= 0 ? static_cast<std::uint64_t>(data.turn) : mix64(data.seed ^ 0x3c6ef372fe94f82bULL) >> 16;
  const bool narrow = adds_to_products(task, free.size()), sums = has_sums(task);
  std::vector<InputDraw> draws;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const ir::TensorType& type = task.inputs[i];
    const std::uint64_t name = hash64(type.name);
    InputDraw input{data.pattern, mix64(data.seed ^ name ^ mix64(static_cast<std::uint64_t>(data.pattern)))};
    const int wanted = narrow ? std::min(data.octaves, kNarrowOctaves) : data.octaves;
    const int octaves = octaves_for(type.dtype, wanted);
    KERF_TRY(const Rows rows, rows_of(type, shape.symbols));
    if (data.pattern == Pattern::scaled) {
      // Every input goes through the kinds with a step of its own, so that many pairs of kinds have their turn.
      constexpr std::uint64_t kSteps[] = {1, 2, 3, 5, 7};
      int kind = static_cast<int>((turn % kRowKinds * kSteps[i % 5] + name % kRowKinds) % kRowKinds);
      const bool is_vector = type.shape.size() <= 1;
      // Nor may a bias lie far from the products by its offset.
      if (narrow && is_vector && kind > huge) kind = ordinary;
      // Of an input that is tiny as a whole nothing overflows: it is so where large ones have to come nearer, too.
      const bool far = kind == tiny && data.octaves >= kLeastOctavesForFar &&
                       !(narrow && (!task.graph || adds_inputs_to_products(*task.graph)));
      const int reach = far ? std::max(octaves, octaves_for(type.dtype, kWidestOctaves)) : octaves;
      input.a = scale_of(kind, mix64(input.seed ^ 1), reach);
      input.b = offset_of(kind, mix64(input.seed ^ 2), input.a, octaves);
      if (kind == constant) input.b = input.a * bell(mix64(input.seed ^ 2));
      if (kind == constant && sums) input.b = cut(input.b);
      if (kind == zero || kind == constant) input.a = 0;
      draws.push_back(input);
      continue;
    }
    if (has_kinds(data.pattern)) {
      const auto kinds = static_cast<std::uint64_t>(kinds_of(data.pattern));
      const auto pieces = static_cast<std::uint64_t>(pieces_of(rows, data.pattern));
      // An input of several has special values in every so many turns.
      const std::uint64_t own = data.pattern == Pattern::specials && !free.empty() ? turn / free.size() : turn;
      const std::uint64_t step = pieces % kinds == 0 ? 1 : pieces % kinds;
      input.seed = seed_that_begins_with(input.seed, own % kinds * step + name % kinds, kinds);
    }
    if (data.pattern == Pattern::rows || data.pattern == Pattern::masked) input.a = static_cast<double>(rows.length);
    if (data.pattern == Pattern::rows) input.b = sums ? octaves : -octaves;
    if (data.pattern == Pattern::specials) {
      // Libraries differ in whether a convolution's padding is multiplied, which a weight that is not finite shows, and
      // in what becomes of an infinity that is split into parts of a lower precision, or meets a denormal.
      const InputUses uses = uses_in(task, i);
      // One input has special values: together a NaN of one would hide what becomes of the others'.
      const bool chosen = !free.empty() && free[turn % free.size()] == i;
      if (uses.weights) input.pattern = Pattern::normal;
      input.a = uses.contracted ? 0 : 1;
      // Zeros, whole rows of them and nothing else too: 0 times NaN is NaN, and no term may be left out.
      const bool only_zeros = turn / std::max<std::size_t>(free.size(), 1) % 3 == 2;
      if (!uses.weights && !chosen) {
        input.pattern = only_zeros ? Pattern::scaled : Pattern::masked;
        input.a = only_zeros ? 0 : static_cast<double>(rows.length);
        input.b = 0;
      }
    }
    if (data.pattern == Pattern::masked) {
      const std::uint64_t choice = turn % mask_turns(task, free);
      if (free.empty() || free[choice % free.size()] != i) input.pattern = Pattern::normal;
      const Mask mask = masks_of(task, free)[choice / std::max<std::size_t>(free.size(), 1)];
      input.b = mask_for(type.dtype, may_be_lowest(task, i) ? mask : Mask::low);
    }
    draws.push_back(input);
  }
  return draws;
}

Result<std::vector<ir::HostTensor>> draw_inputs(const Task& task, const ShapeSet& shape, const DataDraw& data) {
  KERF_TRY_VOID(check_memory(task, shape, available_memory_bytes()));
  KERF_TRY(const auto draws, input_draws(task, shape, data));
  std::vector<ir::HostTensor> inputs;
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const auto given = i < task.distributions.size() ? task.distributions[i] : std::nullopt;
    KERF_TRY(auto tensor, draw(task.inputs[i], shape.symbols, draws[i], given));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace kerf::oracle
