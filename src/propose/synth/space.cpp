#include "propose/synth/space.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "propose/synth/capabilities.hpp"
#include "propose/synth/group_facts.hpp"
#include "propose/synth/ranking.hpp"

namespace kerf::synth {
namespace {

constexpr int kTries = 64;              // draws before the search for an allowed tuple gives up
constexpr std::size_t kMostPins = 12;   // results whose storing is tried out, one after the other
constexpr double kWorthStoring = 0.99;  // of the time without it
constexpr std::size_t kTuples = 20000;  // tuples looked at when the defaults are not allowed

bool reaches(const Variant& variant, Precision precision) {
  return variant.precisions.empty() ||
         std::find(variant.precisions.begin(), variant.precisions.end(), precision) != variant.precisions.end();
}

bool flags_hold(const Variant& variant, const TemplateValues& values) {
  return std::all_of(variant.when.begin(), variant.when.end(), [&](const std::string& flag) {
    const bool negated = flag.starts_with('!');
    const std::string name = negated ? flag.substr(1) : flag;
    const auto found = values.text.find(name);
    return found != values.text.end() && (found->second == "1") != negated;
  });
}

}  // namespace

Space::Space(std::vector<ir::Graph> rewrites, TargetContext context, OutputLanguage language,
             std::vector<Variant> variants)
    : context_(std::move(context)), language_(std::move(language)), variants_(std::move(variants)) {
  for (ir::Graph& graph : rewrites) {
    Structures::Words words = structures_.words_of(graph);
    rewrites_.push_back({codegen::SharedGraph(std::move(graph)), std::move(words)});
  }
}

bool Space::serves(const Variant& variant) const {
  const auto& languages = variant.languages;
  return reaches(variant, context_.precision) &&
         std::find(languages.begin(), languages.end(), language_.dialect.language) != languages.end() &&
         meets(language_.dialect, context_.facts, variant.needs);
}

std::optional<Bindings> Space::default_parameters(const Variant& variant, const TemplateValues& values) const {
  // Tuples in order of a mixed-radix counter whose first digit runs fastest; the first tuple is all defaults.
  std::vector<std::size_t> digit(variant.tunables.size(), 0);
  std::optional<Bindings> first;
  for (std::size_t tuple = 0; tuple < kTuples; ++tuple) {
    Bindings parameters;
    for (std::size_t t = 0; t < digit.size(); ++t)
      parameters[variant.tunables[t].name] = variant.tunables[t].values[digit[t]];
    if (allowed(variant, values, parameters, context_.shapes)) {
      if (preferred(variant, values, parameters, context_.shapes)) return parameters;
      if (!first) first = std::move(parameters);
    }
    std::size_t t = 0;
    while (t < digit.size() && ++digit[t] == variant.tunables[t].values.size()) digit[t++] = 0;
    if (t == digit.size()) break;
  }
  return first;
}

std::vector<Option> Space::options_of(const Family& family, const codegen::BufferPlan& inside,
                                      const Group& group) const {
  const bool served = std::any_of(variants_.begin(), variants_.end(), [&](const Variant& variant) {
    return variant.family == family.name() && serves(variant);
  });
  if (!served || !family.fits(inside, group)) return {};
  HookWriter hooks(inside, language_.dialect, language_.options, "g");
  const auto values = family.fill(group, context_, hooks);
  if (!values) return {};
  const Bindings main_shape = heaviest(context_.shapes);
  std::vector<Option> options;
  for (const Variant& variant : variants_) {
    if (variant.family != family.name() || !serves(variant) || !flags_hold(variant, *values)) continue;
    if (auto defaults = default_parameters(variant, *values))
      options.push_back({&family, &variant, *values, *defaults, work_of(variant, *values, *defaults, main_shape)});
  }
  rank(options, product_flops(inside, group, context_.shapes), context_.rates);
  return options;
}

const Space::Known& Space::known(int rewrite, const codegen::BufferPlan& plan, const Group& group) {
  const auto [place, fresh] = known_.try_emplace(structure_of(plan, group, of(rewrite).words));
  Known& known = place->second;
  if (!fresh) return known;
  known.number = static_cast<int>(known_.size());
  const GroupView view = cut_out(plan, group);
  for (const Family* family : all_families())
    for (Option& option : options_of(*family, view.plan, view.group)) known.options.push_back(std::move(option));
  return known;
}

const Layout* Space::layout(int rewrite, const Roots& roots) {
  const auto [place, fresh] = layouts_.try_emplace(std::pair{rewrite, roots});
  if (!fresh) return place->second.get();
  auto partition = make_partition(of(rewrite).graph, roots, language_.options);
  if (!partition) return nullptr;
  auto layout = std::make_unique<Layout>();
  layout->partition = *std::move(partition);
  for (const Group& group : layout->partition.groups) {
    const Known& found = known(rewrite, layout->partition.plan, group);
    if (found.options.empty()) return nullptr;
    layout->options.emplace_back(found.options);
    layout->structure.push_back(found.number);
  }
  place->second = std::move(layout);
  return place->second.get();
}

std::string Space::uncovered(int rewrite) {
  const auto partition = make_partition(of(rewrite).graph, least_fused(graph(rewrite)), language_.options);
  if (!partition) return partition.error().message;
  for (const Group& group : partition->groups)
    if (known(rewrite, partition->plan, group).options.empty()) {
      const ir::Node& node = partition->plan.graph[group.root];
      return node.origin.empty() ? "node " + std::to_string(group.root) : node.origin;
    }
  return {};
}

// A family that accepts the structure of a group may still have no variant for its extents or flags; such a fusion is
// not made, so that the others are kept.
bool Space::specially_fits(int rewrite, const codegen::BufferPlan& plan, const Group& group) {
  const Family* last = all_families().back();
  const auto& options = known(rewrite, plan, group).options;
  return std::any_of(options.begin(), options.end(), [&](const Option& option) { return option.family != last; });
}

const std::vector<Roots>& Space::fusion_steps(int rewrite) {
  const auto known = fusion_steps_.find(rewrite);
  if (known != fusion_steps_.end()) return known->second;
  const Roots least = least_fused(graph(rewrite));
  const auto fits = [&](const codegen::BufferPlan& plan, const Group& group) {
    return specially_fits(rewrite, plan, group);
  };
  const auto steps_with = [&](const Roots& pinned) {
    Roots roots = least;
    roots.insert(pinned.begin(), pinned.end());
    return synth::fusion_steps(of(rewrite).graph, std::move(roots), language_.options, fits, pinned);
  };
  Roots pinned;
  std::vector<Roots> best = steps_with(pinned);
  double least_us = expected_us(rewrite, best.back());
  std::vector<ir::NodeId> candidates;
  if (const Layout* layout = this->layout(rewrite, best.back())) candidates = taken_in(layout->partition);
  if (candidates.size() > kMostPins) candidates.clear();  // a whole network: there would be no end to it
  for (const ir::NodeId id : candidates) {
    Roots more = pinned;
    more.insert(id);
    std::vector<Roots> steps = steps_with(more);
    const double us = expected_us(rewrite, steps.back());
    if (!(us < kWorthStoring * least_us)) continue;
    least_us = us;
    best = std::move(steps);
    pinned = std::move(more);
  }
  return fusion_steps_[rewrite] = std::move(best);
}

double Space::expected_us(int rewrite, const Roots& roots) {
  const Layout* found = layout(rewrite, roots);
  if (found == nullptr) return std::numeric_limits<double>::infinity();
  std::vector<const Option*> first;
  for (const auto& options : found->options) first.push_back(&options.front());
  double total = 0;
  for (const GroupFacts& facts : group_facts(found->partition, first, context_)) total += facts.expected_us;
  return total;
}

Bindings Space::draw(const Option& option, Rng& rng) const {
  for (int attempt = 0; attempt < kTries; ++attempt) {
    Bindings parameters;
    for (const Tunable& tunable : option.variant->tunables) {
      const auto last = static_cast<std::int64_t>(tunable.values.size()) - 1;
      parameters[tunable.name] = tunable.values[static_cast<std::size_t>(rng.integer(0, last))];
    }
    if (allowed(*option.variant, option.values, parameters, context_.shapes)) return parameters;
  }
  return option.defaults;
}

Bindings Space::nearest(const Option& option, const Bindings& wanted) const {
  Bindings all = option.defaults;
  for (const Tunable& tunable : option.variant->tunables) {
    const auto found = wanted.find(tunable.name);
    if (found == wanted.end() || tunable.values.empty()) continue;
    const auto distance = [&](std::int64_t value) {  // in powers of two, as tunables mostly are
      return std::abs(std::log2(1.0 + std::abs(static_cast<double>(value))) -
                      std::log2(1.0 + std::abs(static_cast<double>(found->second))));
    };
    all[tunable.name] = *std::min_element(tunable.values.begin(), tunable.values.end(),
                                          [&](std::int64_t a, std::int64_t b) { return distance(a) < distance(b); });
  }
  if (allowed(*option.variant, option.values, all, context_.shapes)) return all;
  Bindings chosen = option.defaults;  // one value after the other, as long as the tuple stays allowed
  for (const auto& [name, value] : all) {
    Bindings moved = chosen;
    moved[name] = value;
    if (allowed(*option.variant, option.values, moved, context_.shapes)) chosen = std::move(moved);
  }
  return chosen;
}

std::optional<Bindings> Space::step(const Option& option, const Bindings& parameters, Rng& rng) const {
  std::vector<Bindings> moves;
  for (const Tunable& tunable : option.variant->tunables)
    for (const auto value : tunable.values) {
      Bindings moved = parameters;
      if (moved[tunable.name] == value) continue;
      moved[tunable.name] = value;
      moves.push_back(std::move(moved));
    }
  // Drawn without replacement until one is allowed.
  while (!moves.empty()) {
    const auto pick = static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(moves.size()) - 1));
    if (allowed(*option.variant, option.values, moves[pick], context_.shapes)) return moves[pick];
    moves.erase(moves.begin() + static_cast<std::ptrdiff_t>(pick));
  }
  return {};
}

}  // namespace kerf::synth
