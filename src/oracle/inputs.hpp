#pragma once
// Input data by design: patterns of values that each expose another kind of wrong kernel.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/tensor.hpp"
#include "model/task.hpp"

namespace kerf::oracle {

enum class Pattern {
  normal,       ///< bell-shaped with tails, mixed sign, deviation 1: where a lower precision shows most
  log_uniform,  ///< mixed sign, magnitudes 2^-10 .. 2^10
  spikes,       ///< normal with one element in 500 about 300 times larger
  integers,     ///< -4 .. 4: exact arithmetic, many ties and zeros
  positive,     ///< uniform in [0, 1): sums drift instead of cancelling
  specials,  ///< normal; in one input rare NaN, infinities, signed zeros, denormals, in the others zeros by element and
             ///< by row; operands of products are never infinite, weights of convolutions are normal
  negative,  ///< uniform in (-1, 0]: what starts a maximum at zero is wrong here
  scaled,  ///< normal times a factor plus an offset, of one kind per input: what is tuned to deviation 1 is wrong here
  rows,    ///< rows of eleven kinds in turn: zero, constant, tiny, huge, shifted, wholly below -8, ...
  masked,  ///< normal; in one input ends, beginnings and elements of rows are -1e9, the lowest number or -infinity,
           ///< or whole rows are -2^30, in turn
  ties,    ///< four different numbers
};
inline constexpr Pattern kAllPatterns[] = {Pattern::normal,   Pattern::log_uniform, Pattern::spikes,  Pattern::integers,
                                           Pattern::positive, Pattern::negative,    Pattern::scaled,  Pattern::rows,
                                           Pattern::masked,   Pattern::ties,        Pattern::specials};
std::string_view pattern_name(Pattern pattern);  ///< stable

/// True of values as data in use has them: of one size, with all their bits. Kernels are judged on every pattern; how
/// fast they are is said of these.
inline constexpr bool is_usual(Pattern pattern) {
  return pattern == Pattern::normal || pattern == Pattern::positive || pattern == Pattern::negative;
}

/// Factors of `scaled` and `rows` lie within 2^-n and 2^n: 10^-8 .. 10^8.
inline constexpr int kWidestOctaves = 26;
/// True where a narrower draw may suit a task that overflows on a wide one.
bool has_scale(Pattern pattern);

/// Whether anything is added up over many elements. Tasks without a graph may do so.
bool has_sums(const Task& task);

/// True where something is taken of whole rows other than products: a mean, a maximum, a running sum. Tasks without a
/// graph may do so.
bool has_reductions(const Task& task);

/// A draw of all inputs.
struct DataDraw {
  Pattern pattern = Pattern::normal;
  std::uint64_t seed = 0;
  int octaves = kWidestOctaves;  ///< of patterns that have a scale
  /// Kinds of rows (of `scaled`: of inputs) follow each other; the next turn goes on where this one ends, so that
  /// `draws_for_all_kinds` turns in a row have all of them. Negative: the seed decides where to begin.
  std::int64_t turn = -1;
};

/// How many successive turns of the pattern it takes until every kind of row was drawn in every input: one where there
/// are rows enough, and for patterns without kinds.
Result<int> draws_for_all_kinds(const Task& task, const ShapeSet& shape, Pattern pattern);

/// What one input of a draw is made of.
struct InputDraw {
  Pattern pattern = Pattern::normal;
  std::uint64_t seed = 0;
  double a = 1, b = 0;  ///< scaled: factor and offset; rows: length of a row and octaves, negative where constant rows
                        ///< have whole mantissas (nothing is added up); masked: length and the mask; specials: 0 where
                        ///< there are no infinities. The kind of the first row follows from the seed.
};

/// Every element of the input is the same number.
inline bool is_constant(const InputDraw& input) { return input.pattern == Pattern::scaled && input.a == 0; }

/// One tensor. Element i depends on (draw, i) alone, so the result is the same on any number of threads. A distribution
/// given by the task replaces the pattern (its specials included).
Result<ir::HostTensor> draw(const ir::TensorType& type, const Bindings& symbols, const InputDraw& input,
                            const std::optional<InputDistribution>& given);

/// What `draw_inputs` hands to `draw`: each input has its own stream of the seed.
Result<std::vector<InputDraw>> input_draws(const Task& task, const ShapeSet& shape, const DataDraw& data);

/// All inputs of a task for one shape set.
Result<std::vector<ir::HostTensor>> draw_inputs(const Task& task, const ShapeSet& shape, const DataDraw& data);

}  // namespace kerf::oracle
