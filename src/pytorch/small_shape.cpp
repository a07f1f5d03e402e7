#include "pytorch/small_shape.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "ir/analysis/cost.hpp"
#include "task/task.hpp"

namespace kerf::pytorch {
namespace {

/// Shapes up to this many elements and operations are small: the reference answers at once.
constexpr double kSmallElements = 1 << 20, kSmallWork = 1e8;
/// Extents below are windows, groups and colours: kernels are written for these numbers.
constexpr std::int64_t kLeastExtent = 17;
/// Longer ones are named by a part of them that is about so long, so that sums over them can be cut into equal pieces.
constexpr std::int64_t kHuge = 1 << 17, kParts = 64;
/// Of the first input's first extent, which is nearly always the batch.
constexpr std::int64_t kLeastBatch = 4;
/// A small shape of more than this part of the work saves too little.
constexpr double kWorthIt = 0.5;

/// A whole number in the text, at [begin, end).
struct Number {
  std::size_t begin = 0, end = 0;
  std::int64_t value = 0;
  bool is_last_index = false;  ///< of integers(0, n - 1): stands for one less than an extent
  bool is_first = false;       ///< of its list: where the batch stands
};

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

/// The whole numbers of text[begin, end) that stand by themselves: not in names, not parts of fractions.
std::vector<Number> numbers_in(std::string_view text, std::size_t begin, std::size_t end) {
  std::vector<Number> all;
  for (std::size_t at = begin; at < end;) {
    if (!in_word(text[at])) {
      ++at;
      continue;
    }
    const std::size_t start = at;
    bool digits = true;
    for (; at < end && in_word(text[at]); ++at) digits = digits && std::isdigit(static_cast<unsigned char>(text[at]));
    if (digits && at - start < 12) all.push_back({start, at, std::stoll(std::string(text.substr(start, at - start)))});
  }
  return all;
}

/// Places where an extent may stand: between square brackets (types, shapes, slices), in narrow's start and length, in
/// the range of class indices.
std::vector<Number> places(const std::string& text) {
  std::vector<Number> all;
  const auto take = [&](std::size_t begin, std::size_t end) {
    for (Number number : numbers_in(text, begin, end)) {
      number.is_first = number.begin == begin + 1;
      all.push_back(number);
    }
  };
  std::size_t line = 0;
  while (line < text.size()) {
    const std::size_t next = std::min(text.find('\n', line), text.size());
    const std::size_t comment = std::min(text.find('#', line), next);
    for (std::size_t open = text.find('[', line); open < comment; open = text.find('[', open + 1)) {
      const std::size_t close = text.find(']', open);
      if (close < comment && open != line) take(open, close);  // not the name of a table
    }
    if (const std::size_t call = text.find("narrow(", line); call < comment) {
      const std::size_t axis = text.find(',', call);
      const std::size_t start = axis < comment ? text.find(',', axis + 1) : comment;
      if (start < comment) take(start, std::min(text.find(')', start), comment));
    }
    if (const std::size_t root = text.find("/ sqrt(", line); root < comment)
      take(root + 6, std::min(text.find(')', root), comment));
    if (const std::size_t range = text.find("\"integers(", line); range < comment) {
      const std::size_t comma = text.find(',', range);
      if (comma < comment) {
        for (Number last : numbers_in(text, comma, std::min(text.find(')', comma), comment))) {
          ++last.value;
          last.is_last_index = true;
          all.push_back(last);
        }
      }
    }
    line = next + 1;
  }
  std::ranges::sort(all, {}, &Number::begin);
  all.erase(std::unique(all.begin(), all.end(), [](const Number& a, const Number& b) { return a.begin == b.begin; }),
            all.end());
  return all;
}

/// What stands for an extent: a name of its own, or another's name times a number.
struct Term {
  std::int64_t base = 0, factor = 1;
};
using Terms = std::map<std::int64_t, Term>;

std::string name_of(std::int64_t extent) { return fmt::format("d{}", extent); }

std::string with_terms(const std::string& text, const std::vector<Number>& numbers, const Terms& terms) {
  std::string result;
  std::size_t from = 0;
  for (const Number& number : numbers) {
    const auto term = terms.find(number.value);
    if (term == terms.end() || (number.value < kLeastExtent && !number.is_first)) continue;
    result.append(text, from, number.begin - from);
    result += name_of(term->second.base);
    if (term->second.factor != 1) result += fmt::format("*{}", term->second.factor);
    if (number.is_last_index) result += " - 1";
    from = number.end;
  }
  return result + text.substr(from);
}

using Values = std::map<std::int64_t, std::int64_t>;  // of names, by the extent they stand for

std::string with_shapes(const std::string& text, const Values& small) {
  std::string real, other;
  for (const auto& [extent, value] : small) {
    real += fmt::format("{} = {}, ", name_of(extent), extent);
    other += fmt::format("{} = {}, ", name_of(extent), value);
  }
  const std::string table = fmt::format(
      "[shapes]\ndefault = {{ {}weight = 1 }}\nsmall = {{ {} }}  # checked only: the same model with smaller extents\n\n",
      real, other.substr(0, other.size() - 2));
  const std::size_t at = text.find("[reference]");
  return text.substr(0, at) + table + text.substr(at);
}

Bindings bindings_of(const Values& values) {
  Bindings bindings;
  for (const auto& [extent, value] : values) bindings[name_of(extent)] = value;
  return bindings;
}

double work_of(const Task& task, const Bindings& symbols) {
  const auto cost = ir::cost(*task.graph, symbols);
  return cost ? cost->fma_flops / 2 + cost->other_flops : 0;
}

bool is_small(const Task& task, const Bindings& symbols) {
  return element_count(task, {"", symbols, 0, {}}) <= kSmallElements && work_of(task, symbols) <= kSmallWork;
}

/// Extents to try, falling. Divisible by powers of two as far as the real one is, up to 64 (of all but the batch no
/// less than 8 of them are kept), and at first not powers themselves: what suits the real extent suits these, and tiles
/// have an end.
std::vector<std::int64_t> ladder(std::int64_t extent, bool is_batch) {
  std::vector<std::int64_t> rungs{extent};
  const auto add = [&](std::int64_t next) {
    if (next < rungs.back() && next * 5 <= extent * 3) rungs.push_back(next);
  };
  const std::int64_t most = std::gcd(extent, std::int64_t{64}), least = is_batch ? 1 : std::min<std::int64_t>(most, 8);
  if (most == 1 && extent > 2 * 35) add(35);
  for (std::int64_t power = most; power >= least; power /= 2) add(3 * power);
  for (std::int64_t power = 16; power >= std::max<std::int64_t>(least, 2); power /= 2)
    if (extent % power == 0) add(power);
  return rungs;
}

/// The largest power of two that leaves `kParts` or more of a huge extent; 1 of others.
std::int64_t piece_of(std::int64_t extent) {
  std::int64_t length = 1;
  while (extent >= kHuge && extent % (2 * length) == 0 && extent / (2 * length) >= kParts) length *= 2;
  return length;
}

class Namer {
 public:
  Namer(const std::string& text, std::string file) : text_(text), file_(std::move(file)), numbers_(places(text)) {}

  std::string run() {
    const auto task = parse_task(text_, ".", file_);
    if (!task || !task->graph || is_small(*task, {})) return text_;
    if (!task->inputs.empty() && !task->inputs[0].shape.empty())
      batch_ = task->inputs[0].shape[0].evaluate({}).value_or(0);
    choose_terms(extents_of(*task));
    if (terms_.empty()) return text_;
    return shrink(work_of(*task, {}));
  }

 private:
  static std::set<std::int64_t> extents_of(const Task& task) {
    std::set<std::int64_t> extents;
    for (std::size_t i = 0; i < task.inputs.size(); ++i)
      for (std::size_t d = 0; d < task.inputs[i].shape.size(); ++d)
        if (const auto extent = task.inputs[i].shape[d].evaluate({}))
          if (*extent >= (i == 0 && d == 0 ? kLeastBatch : kLeastExtent)) extents.insert(*extent);
    return extents;
  }

  /// The task with these terms and values, where it is one.
  std::optional<Task> with(const Terms& terms, const Values& values) const {
    auto task = parse_task(with_shapes(with_terms(text_, numbers_, terms), values), ".", file_);
    return task ? std::optional<Task>(*std::move(task)) : std::nullopt;
  }

  /// The real extents' own values, but those of `extent` a step smaller, so that a number that was left is noticed.
  Values changed(const Values& real, std::int64_t extent) const {
    Values values = real;
    values[extent] = rungs_of(extent)[1];
    return values;
  }

  std::vector<std::int64_t> rungs_of(std::int64_t extent) const {
    return ladder(extent, extent == batch_ || number_of_pieces_.contains(extent));
  }

  /// Ways to write `extent`: by a name of its own; as a multiple of one that has a name; by a name of its own together
  /// with a larger extent that is a multiple of it (channels and what they are flattened to).
  static std::vector<Terms> choices(std::int64_t extent, const Values& named, const std::set<std::int64_t>& extents) {
    std::vector<Terms> all;
    if (const std::int64_t length = piece_of(extent); length > 1) all.push_back({{extent, {extent / length, length}}});
    all.push_back({{extent, {extent, 1}}});
    for (const auto& [base, value] : named)
      if (extent % base == 0) all.push_back({{extent, {base, extent / base}}});
    Terms multiples{{extent, {extent, 1}}};
    for (const std::int64_t larger : extents)
      if (larger > extent && larger % extent == 0) {
        all.push_back({{extent, {extent, 1}}, {larger, {extent, larger / extent}}});
        multiples[larger] = {extent, larger / extent};
      }
    if (multiples.size() > 2) all.push_back(multiples);
    return all;
  }

  /// A name for every extent that can be another, small ones first: larger ones may be multiples of theirs.
  void choose_terms(std::set<std::int64_t> extents) {
    for (const Number& number : numbers_)
      if (number.value >= kLeastExtent) extents.insert(number.value);
    Values real;
    for (const std::int64_t extent : extents)
      if (extent >= kHuge) number_of_pieces_.insert(extent / piece_of(extent));
    for (const std::int64_t extent : extents) {
      if (terms_.contains(extent) || rungs_of(extent).size() < 2) continue;
      for (const Terms& choice : choices(extent, real, extents)) {
        Terms terms = terms_;
        terms.insert(choice.begin(), choice.end());
        Values values = real;
        const std::int64_t base = choice.at(extent).base;
        values[base] = base;
        if (rungs_of(base).size() < 2 || !with(terms, changed(values, base))) continue;
        terms_ = std::move(terms);
        real = std::move(values);
        break;
      }
    }
    values_ = std::move(real);
  }

  /// Takes the largest extent a step down until the shape is small, where the task allows it.
  std::string shrink(double real_work) {
    Values small = values_;
    std::map<std::int64_t, std::size_t> rungs;
    std::set<std::int64_t> stuck;
    std::optional<Task> task = with(terms_, small);
    while (task && !is_small(*task, bindings_of(small))) {
      std::int64_t largest = 0;
      for (const auto& [extent, value] : small)
        if (!stuck.contains(extent) && rungs[extent] + 1 < rungs_of(extent).size() &&
            (largest == 0 || value > small[largest]))
          largest = extent;
      if (largest == 0) break;
      Values next = small;
      next[largest] = rungs_of(largest)[++rungs[largest]];
      if (auto smaller = with(terms_, next)) {
        small = std::move(next);
        task = std::move(smaller);
      } else {
        stuck.insert(largest);
      }
    }
    if (!task || work_of(*task, bindings_of(small)) > kWorthIt * real_work) return text_;
    return with_shapes(with_terms(text_, numbers_, terms_), small);
  }

  const std::string& text_;
  std::string file_;
  std::vector<Number> numbers_;
  std::int64_t batch_ = 0;  // first extent of the first input
  std::set<std::int64_t> number_of_pieces_;
  Terms terms_;
  Values values_;  // the real ones
};

}  // namespace

std::string with_small_shape(const std::string& task, const std::string& file) { return Namer(task, file).run(); }

}  // namespace kerf::pytorch
