#include "propose/synth/synthesiser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "ir/analysis/algebra.hpp"
#include "propose/synth/adapt.hpp"
#include "propose/synth/capabilities.hpp"
#include "propose/synth/space.hpp"

namespace kerf::synth {
namespace {

constexpr int kAttempts = 24;
constexpr std::size_t kManyStructures = 24;
constexpr int kWandering = 4;  // splits and merges that a random genome is away from a step of the planner, at most

constexpr const char* kFastMath = "dialect/math.h";

/// What the file of fast functions defines, as `DialectTraits::fast_functions` wants it.
Result<std::string_view> fast_functions() {
  KERF_TRY(const std::string_view text, built_in_file(kFastMath));
  static const std::string names = [](std::string_view rest) {
    constexpr std::string_view kDefinition = "KERF_FN float kerf_fast_";
    std::string found = " ";
    for (auto at = rest.find(kDefinition); at != std::string_view::npos; at = rest.find(kDefinition)) {
      rest.remove_prefix(at + kDefinition.size());
      found += std::string(rest.substr(0, rest.find('('))) + " ";
    }
    return found;
  }(text);
  return std::string_view(names);
}

std::size_t pick(std::size_t count, Rng& rng) {
  return static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(count) - 1));
}

/// The genes of a layout: every group that is not a plain copy.
Gene gene_of(const Group& group, const Option& option, Bindings parameters) {
  return {group.root, option.variant->family, option.variant->name, std::move(parameters)};
}

Roots roots_of(const Genome& genome) {
  Roots roots;
  for (const Gene& gene : genome.genes) roots.insert(gene.root);
  return roots;
}

const Gene* find_gene(const Genome& genome, ir::NodeId root) {
  for (const Gene& gene : genome.genes)
    if (gene.root == root) return &gene;
  return nullptr;
}

const Option* find_option(std::span<const Option> options, const Gene& gene) {
  for (const Option& option : options)
    if (option.variant->family == gene.family && option.variant->name == gene.variant) return &option;
  return nullptr;
}

std::string text_of(const Bindings& parameters) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : parameters) parts.push_back(fmt::format("{}={}", name, value));
  return join(parts, " ");
}

/// Whether its groups differ in so many ways that first tries cannot change one after the other.
bool is_network(const Layout& layout) {
  return std::set<int>(layout.structure.begin(), layout.structure.end()).size() > kManyStructures;
}

/// Groups of threads that keep a device busy: two for each unit of a GPU.
std::int64_t wanted_tiles(const codegen::DialectTraits& dialect, const DeviceFacts& facts) {
  constexpr std::int64_t kTypicalUnits = 64;
  if (has_capability(dialect, facts, "runs_on_host")) return facts.compute_units;
  return 2 * (facts.compute_units > 0 ? facts.compute_units : kTypicalUnits);
}

}  // namespace

struct Synthesiser::Impl {
  std::string task;
  std::unique_ptr<Space> space;
  std::unique_ptr<Renderer> renderer;  ///< borrows from the space
  std::vector<Genome> starts;          ///< never empty once created

  /// A genome over `layout` in which group g has `choose(g)`.
  template <class Choose>
  Genome genome(int rewrite, const Layout& layout, const Choose& choose) const {
    Genome genome;
    genome.rewrite = rewrite;
    for (std::size_t g = 0; g < layout.partition.groups.size(); ++g)
      if (!layout.partition.groups[g].copy) genome.genes.push_back(choose(g));
    return genome;
  }
  Gene first_gene(const Layout& layout, std::size_t g, std::size_t option = 0) const {
    const Option& chosen = layout.options[g][option];
    return gene_of(layout.partition.groups[g], chosen, chosen.defaults);
  }
  Gene random_gene(const Layout& layout, std::size_t g, Rng& rng) const {
    const Option& chosen = layout.options[g][pick(layout.options[g].size(), rng)];
    return gene_of(layout.partition.groups[g], chosen, space->draw(chosen, rng));
  }
  /// Keeps the parent's gene where the group is the same and still allowed.
  Gene inherited(const Layout& layout, std::size_t g, const Genome& parent, Rng& rng) const {
    if (const Gene* gene = find_gene(parent, layout.partition.groups[g].root)) {
      const Option* option = find_option(layout.options[g], *gene);
      if (option != nullptr && allowed(*option->variant, option->values, gene->parameters, space->context().shapes))
        return *gene;
    }
    return rng.chance(0.5) ? first_gene(layout, g) : random_gene(layout, g, rng);
  }
  /// The first genes of a layout, or nothing when there is no such layout.
  std::optional<Genome> first_genome(int rewrite, const Roots& roots) const {
    const Layout* layout = space->layout(rewrite, roots);
    if (layout == nullptr) return {};
    return genome(rewrite, *layout, [&](std::size_t g) { return first_gene(*layout, g); });
  }
  /// Splits and merges: nodes that could be stored and are not, or the other way round. Not all lead to a layout.
  std::vector<ir::NodeId> moves(int rewrite, const Layout& layout, const Roots& roots) const;
  /// `roots` after one split or merge drawn at random that has a layout, or nothing when there is none.
  std::optional<Roots> neighbour(int rewrite, const Roots& roots, Rng& rng) const;
  /// How each group is computed; an error names one that cannot be.
  Result<std::vector<Choice>> choices(const Layout& layout, const Genome& genome) const;
  /// An error names the operators of the group that cannot be written.
  Result<Candidate> write(const Genome& genome, const std::string& name) const;
  /// Does not depend on parameters, so it is found out once per structure and variant.
  bool can_be_written(const Genome& genome) const {
    const Layout* layout = layout_of(genome);
    if (layout == nullptr) return false;
    for (std::size_t g = 0; g < layout->partition.groups.size(); ++g) {
      const Group& group = layout->partition.groups[g];
      const Gene* gene = group.copy ? nullptr : find_gene(genome, group.root);
      const Option* option = gene != nullptr ? find_option(layout->options[g], *gene) : &layout->options[g].front();
      if (option == nullptr || !group_can_be_written(*layout, g, *option)) return false;
    }
    return true;
  }
  bool group_can_be_written(const Layout& layout, std::size_t g, const Option& option) const {
    const auto [known, fresh] = writable_.try_emplace({layout.structure[g], option.variant}, false);
    if (fresh)
      known->second = renderer
                          ->check_group(layout.partition.plan, layout.partition.groups[g],
                                        {option.family, option.variant, option.defaults, layout.structure[g]})
                          .has_value();
    return known->second;
  }
  /// The most fused choice of a rewrite whose first genes can be written; null when there is none.
  const Roots* most_fused(int rewrite) const;
  /// The first genome of a layout with another variant for the groups of one structure; in whole networks, which have
  /// many, for all groups that have the same first variant.
  std::vector<Genome> with_other_variants(int rewrite, const Layout& layout) const;
  std::vector<Genome> find_starts() const;

  mutable std::map<std::pair<int, const Variant*>, bool> writable_;  // by the number of the structure

  const Layout* layout_of(const Genome& genome) const {
    if (genome.rewrite < 0 || static_cast<std::size_t>(genome.rewrite) >= space->rewrites()) return nullptr;
    return space->layout(genome.rewrite, roots_of(genome));
  }
};

Synthesiser::Synthesiser(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Synthesiser::~Synthesiser() = default;

Result<std::unique_ptr<Synthesiser>> Synthesiser::create(const Task& task, const std::string& target,
                                                         const codegen::DialectTraits& dialect,
                                                         const DeviceFacts& facts,
                                                         const std::map<std::string, double>& rates) {
  if (!task.graph)
    return fail(Errc::invalid_input,
                fmt::format("task {} has a C++ reference: the builtin families work on tensor expressions ([reference] "
                            "expr); 'kerf eval' judges a kernel of yours, --mind llm or command writes some",
                            task.name));
  OutputLanguage language{dialect, {}, {std::string(dialect.layer)}, {}};
  language.dialect.prologue = "";  // the dialect layer includes what is needed
  if (has_capability(language.dialect, facts, "runs_on_host")) {
    language.headers.emplace_back(kFastMath);
    KERF_TRY(language.dialect.fast_functions, fast_functions());
  }
  language.options.compute = task.precision == Precision::f64 ? DType::f64 : DType::f32;
  for (const auto* list : {&task.inputs, &task.outputs})
    for (const auto& tensor : *list) language.taken.insert(tensor.name);
  TargetContext context{target, task.precision, shapes_for(task, target), facts, rates};
  for (const ShapeSet& shape : context.shapes)
    for (const auto& [name, value] : shape.symbols) language.taken.insert(name);
  KERF_TRY(auto variants, load_catalogue());
  auto impl = std::make_unique<Impl>();
  impl->task = task.name;
  const auto main_shape = std::ranges::max_element(context.shapes, {}, &ShapeSet::weight);
  impl->space = std::make_unique<Space>(
      ir::algebraic_forms(*task.graph, task.special_values ? ir::Values::any : ir::Values::finite,
                          wanted_tiles(language.dialect, facts),
                          main_shape == context.shapes.end() ? Bindings{} : main_shape->symbols),
      std::move(context), std::move(language), std::move(variants));
  impl->renderer = std::make_unique<Renderer>(impl->space->context(), impl->space->language());
  if (const std::string missing = impl->space->uncovered(0); !missing.empty())
    return fail(Errc::invalid_input, fmt::format("no kernel family for target {} covers {}", target, missing));
  impl->starts = impl->find_starts();
  if (impl->starts.empty()) {
    const auto plainest = impl->first_genome(0, impl->space->fusion_steps(0).front());
    KERF_CHECK(plainest.has_value(), "every group of the least fused layout is covered");
    const auto written = impl->write(*plainest, task.name);
    return fail(Errc::invalid_input, fmt::format("no composition of kernel families can be written for target {}: {}",
                                                 target, written ? "its outline is refused" : written.error().message));
  }
  return std::unique_ptr<Synthesiser>(new Synthesiser(std::move(impl)));
}

const Roots* Synthesiser::Impl::most_fused(int rewrite) const {
  const auto& steps = space->fusion_steps(rewrite);
  for (auto roots = steps.rbegin(); roots != steps.rend(); ++roots)
    if (const auto fused = first_genome(rewrite, *roots); fused && can_be_written(*fused)) return &*roots;
  return nullptr;
}

std::vector<Genome> Synthesiser::Impl::with_other_variants(int rewrite, const Layout& layout) const {
  const bool many = is_network(layout);
  std::set<std::tuple<int, const Variant*, const Variant*>> seen;  // structure (0: any), first variant, other one
  std::vector<Genome> found;
  for (std::size_t g = 0; g < layout.options.size(); ++g)
    for (std::size_t o = 1; o < layout.options[g].size(); ++o) {
      const Variant* first = layout.options[g].front().variant;
      const Variant* other = layout.options[g][o].variant;
      if (!seen.insert({many ? 0 : layout.structure[g], first, other}).second) continue;
      bool changed = false;
      Genome start = genome(rewrite, layout, [&](std::size_t at) {
        const auto& options = layout.options[at];
        if ((!many && layout.structure[at] != layout.structure[g]) || options.front().variant != first)
          return first_gene(layout, at);
        const auto same =
            std::find_if(options.begin(), options.end(), [&](const Option& option) { return option.variant == other; });
        if (same == options.end() || !group_can_be_written(layout, at, *same)) return first_gene(layout, at);
        changed = true;
        return first_gene(layout, at, static_cast<std::size_t>(same - options.begin()));
      });
      if (changed) found.push_back(std::move(start));
    }
  return found;
}

std::vector<Genome> Synthesiser::Impl::find_starts() const {
  std::vector<Genome> found;
  const auto add = [&](const Genome& start) {
    if (std::find(found.begin(), found.end(), start) == found.end() && can_be_written(start)) found.push_back(start);
  };
  struct Fused {
    int rewrite = 0;
    const Roots* roots = nullptr;
    double us = 0;
  };
  std::vector<Fused> programs;
  for (auto rewrite = static_cast<int>(space->rewrites()); rewrite-- > 0;)
    if (const Roots* roots = most_fused(rewrite))
      programs.push_back({rewrite, roots, space->expected_us(rewrite, *roots)});
  std::stable_sort(programs.begin(), programs.end(), [](const Fused& a, const Fused& b) { return a.us < b.us; });
  for (const auto& [rewrite, roots, us] : programs) add(*first_genome(rewrite, *roots));
  for (const auto& [rewrite, roots, us] : programs) {
    const Layout& layout = *space->layout(rewrite, *roots);
    auto others = with_other_variants(rewrite, layout);
    std::move(others.begin(), others.end(), std::back_inserter(found));
    if (is_network(layout)) break;  // each try of one is long: those of the best program will do
  }
  for (auto rewrite = static_cast<int>(space->rewrites()); rewrite-- > 0;)
    if (const auto split = first_genome(rewrite, space->fusion_steps(rewrite).front())) add(*split);
  return found;
}

std::vector<Genome> Synthesiser::starts() const { return impl_->starts; }

Genome Synthesiser::random(Rng& rng) const {
  const auto rewrites = impl_->space->rewrites();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto rewrite = static_cast<int>(pick(rewrites, rng));
    const auto& steps = impl_->space->fusion_steps(rewrite);
    Roots roots = steps[pick(steps.size(), rng)];
    for (auto moves = rng.integer(0, kWandering); moves > 0; --moves)
      if (auto moved = impl_->neighbour(rewrite, roots, rng)) roots = *std::move(moved);
    const Layout* layout = impl_->space->layout(rewrite, roots);
    if (layout == nullptr) continue;
    Genome genome = impl_->genome(rewrite, *layout, [&](std::size_t g) { return impl_->random_gene(*layout, g, rng); });
    if (impl_->can_be_written(genome)) return genome;
  }
  return impl_->starts[pick(impl_->starts.size(), rng)];
}

std::optional<Genome> Synthesiser::change_parameter(const Genome& parent, Rng& rng) const {
  const Layout* layout = impl_->layout_of(parent);
  if (layout == nullptr) return {};
  Genome child = parent;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::size_t g = pick(layout->partition.groups.size(), rng);
    for (Gene& gene : child.genes) {
      if (gene.root != layout->partition.groups[g].root) continue;
      const Option* option = find_option(layout->options[g], gene);
      if (option == nullptr) continue;
      if (auto moved = impl_->space->step(*option, gene.parameters, rng)) {
        gene.parameters = *std::move(moved);
        return child;
      }
    }
  }
  return {};
}

std::optional<Genome> Synthesiser::change_family(const Genome& parent, Rng& rng) const {
  const Layout* layout = impl_->layout_of(parent);
  if (layout == nullptr) return {};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const std::size_t g = pick(layout->partition.groups.size(), rng);
    if (layout->partition.groups[g].copy || layout->options[g].size() < 2) continue;
    Genome child = parent;
    for (Gene& gene : child.genes)
      if (gene.root == layout->partition.groups[g].root) {
        const Option& option = layout->options[g][pick(layout->options[g].size(), rng)];
        Gene other = gene_of(layout->partition.groups[g], option,
                             rng.chance(0.5) ? option.defaults : impl_->space->draw(option, rng));
        if (other.family == gene.family && other.variant == gene.variant) continue;
        gene = std::move(other);
        if (impl_->can_be_written(child)) return child;
        break;
      }
  }
  return {};
}

std::vector<ir::NodeId> Synthesiser::Impl::moves(int rewrite, const Layout& layout, const Roots& roots) const {
  const ir::Graph& graph = space->graph(rewrite);
  std::vector<ir::NodeId> moves;
  for (const ir::NodeId root : roots)  // merges
    if (std::none_of(graph.outputs.begin(), graph.outputs.end(), [&](const auto& o) { return o.node == root; }))
      moves.push_back(root);
  for (const Group& group : layout.partition.groups)  // splits
    for (const ir::NodeId id : group.members) {
      const ir::Node& node = graph[id];
      if (id == group.root || ir::is<ir::ConstantAttr>(node) || ir::is<ir::IotaAttr>(node)) continue;
      moves.push_back(id);
    }
  return moves;
}

std::optional<Roots> Synthesiser::Impl::neighbour(int rewrite, const Roots& roots, Rng& rng) const {
  const Layout* layout = space->layout(rewrite, roots);
  if (layout == nullptr) return {};
  std::vector<ir::NodeId> open = moves(rewrite, *layout, roots);
  while (!open.empty()) {  // drawn without replacement until one is legal
    const std::size_t at = pick(open.size(), rng);
    Roots moved = roots;
    if (moved.erase(open[at]) == 0) moved.insert(open[at]);
    if (space->layout(rewrite, moved) != nullptr) return moved;
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return {};
}

std::optional<Genome> Synthesiser::change_fusion(const Genome& parent, Rng& rng) const {
  if (impl_->layout_of(parent) == nullptr) return {};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto roots = impl_->neighbour(parent.rewrite, roots_of(parent), rng);
    if (!roots) return {};
    const Layout* moved = impl_->space->layout(parent.rewrite, *roots);
    Genome child =
        impl_->genome(parent.rewrite, *moved, [&](std::size_t g) { return impl_->inherited(*moved, g, parent, rng); });
    if (impl_->can_be_written(child)) return child;
  }
  return {};
}

std::optional<Genome> Synthesiser::cross(const Genome& a, const Genome& b, Rng& rng) const {
  const bool swapped = rng.chance(0.5);
  const Genome& frame = swapped ? b : a;
  const Genome& donor = swapped ? a : b;
  if (frame.rewrite != donor.rewrite) return {};
  const Layout* layout = impl_->layout_of(frame);
  if (layout == nullptr) return {};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    Genome child = impl_->genome(frame.rewrite, *layout, [&](std::size_t g) {
      const ir::NodeId root = layout->partition.groups[g].root;
      const Gene* own = find_gene(frame, root);
      const Gene* other = find_gene(donor, root);
      if (own == nullptr || other == nullptr) return impl_->inherited(*layout, g, frame, rng);
      Gene mixed = rng.chance(0.5) ? *own : *other;
      const Gene& second = mixed == *own ? *other : *own;
      if (mixed.family == second.family && mixed.variant == second.variant)  // parameters mix one by one
        for (auto& [name, value] : mixed.parameters)
          if (const auto found = second.parameters.find(name); found != second.parameters.end() && rng.chance(0.5))
            value = found->second;
      const Option* option = find_option(layout->options[g], mixed);
      if (option == nullptr ||
          !allowed(*option->variant, option->values, mixed.parameters, impl_->space->context().shapes))
        return *own;
      return mixed;
    });
    if (child != a && child != b && impl_->can_be_written(child)) return child;
  }
  return {};
}

Result<std::vector<Choice>> Synthesiser::Impl::choices(const Layout& layout, const Genome& genome) const {
  std::vector<Choice> choices;
  for (std::size_t g = 0; g < layout.partition.groups.size(); ++g) {
    const Group& group = layout.partition.groups[g];
    const Gene* gene = group.copy ? nullptr : find_gene(genome, group.root);
    const Option* option = gene != nullptr ? find_option(layout.options[g], *gene) : &layout.options[g].front();
    if (option == nullptr)
      return fail(Errc::invalid_input,
                  fmt::format("{}/{} cannot compute node {} here", gene->family, gene->variant, gene->root));
    choices.push_back(
        {option->family, option->variant, gene != nullptr ? gene->parameters : option->defaults, layout.structure[g]});
  }
  return choices;
}

Result<Candidate> Synthesiser::Impl::write(const Genome& genome, const std::string& name) const {
  const Layout* layout = layout_of(genome);
  if (layout == nullptr) return fail(Errc::invalid_input, "the genome does not fit this task and target");
  KERF_TRY(const std::vector<Choice> chosen, choices(*layout, genome));
  auto candidate = renderer->render(layout->partition, chosen, name);
  if (candidate) return candidate;
  std::set<std::string> operators;
  for (const Group& group : layout->partition.groups)
    for (const ir::NodeId id : group.members)
      if (const auto& origin = layout->partition.plan.graph[id].origin; !origin.empty())
        operators.insert(origin.substr(0, origin.find('#')));
  const std::vector<std::string> names(operators.begin(), operators.end());
  return fail(candidate.error().code,
              fmt::format("{}{}", names.empty() ? "" : join(names, ", ") + ": ", candidate.error().message));
}

double Synthesiser::expected_us(const Genome& genome) const {
  double total = 0;
  for (const GroupFacts& group : facts(genome)) total += group.expected_us;
  return total;
}

std::string Synthesiser::text(const Genome& genome) const {
  const Layout* layout = impl_->layout_of(genome);
  const auto choices = layout != nullptr ? impl_->choices(*layout, genome) : Result<std::vector<Choice>>{};
  if (!choices) return to_json(genome);
  std::vector<std::size_t> kernels, groups;  // per gene: the first that shares its kernels; its group
  for (std::size_t g = 0; g < choices->size(); ++g) {
    if (layout->partition.groups[g].copy) continue;
    const auto twin = std::find_if(groups.begin(), groups.end(),
                                   [&](std::size_t at) { return (*choices)[g].same_kernels((*choices)[at]); });
    kernels.push_back(static_cast<std::size_t>(twin - groups.begin()));
    groups.push_back(g);
  }
  return to_json(genome, kernels.size() == genome.genes.size() ? kernels : std::vector<std::size_t>{});
}

std::vector<GroupFacts> Synthesiser::facts(const Genome& genome) const {
  const Layout* layout = impl_->layout_of(genome);
  if (layout == nullptr) return {};
  std::vector<const Option*> options;
  for (std::size_t g = 0; g < layout->partition.groups.size(); ++g) {
    const Group& group = layout->partition.groups[g];
    const Gene* gene = group.copy ? nullptr : find_gene(genome, group.root);
    options.push_back(gene != nullptr ? find_option(layout->options[g], *gene) : &layout->options[g].front());
    if (options.back() == nullptr) return {};
  }
  return group_facts(layout->partition, options, impl_->space->context());
}

Result<Candidate> Synthesiser::render(const Genome& genome) const { return impl_->write(genome, describe(genome)); }

std::optional<memory::Recipe> Synthesiser::recipe(const Genome& genome) const {
  return recipe_of(genome, *impl_->space);
}

std::optional<Genome> Synthesiser::adapted(const memory::Recipe& recipe) const {
  for (Genome& genome : adapt(recipe, *impl_->space))
    if (impl_->can_be_written(genome)) return std::move(genome);
  return {};
}

std::string Synthesiser::describe(const Genome& genome) const {
  std::vector<std::string> parts;
  for (const Gene& gene : genome.genes) parts.push_back(gene.family + "/" + gene.variant);
  return join(parts, " + ") + (genome.rewrite > 0 ? fmt::format(" (rewrite {})", genome.rewrite) : "");
}

std::string Synthesiser::difference(const Genome& from, const Genome& to) const {
  if (from.rewrite != to.rewrite) return fmt::format("rewrite {} -> {}: {}", from.rewrite, to.rewrite, describe(to));
  std::vector<std::string> parts;
  const Roots before = roots_of(from), after = roots_of(to);
  for (const ir::NodeId root : after)
    if (!before.contains(root)) parts.push_back(fmt::format("node {} is stored", root));
  for (const ir::NodeId root : before)
    if (!after.contains(root)) parts.push_back(fmt::format("node {} is fused", root));
  for (std::size_t g = 0; g < to.genes.size(); ++g) {
    const Gene& gene = to.genes[g];
    const Gene* old = find_gene(from, gene.root);
    if (old == nullptr || old->family != gene.family || old->variant != gene.variant) {
      parts.push_back(fmt::format("g{} {}{}/{} {}", g, old != nullptr ? old->family + "/" + old->variant + " -> " : "",
                                  gene.family, gene.variant, text_of(gene.parameters)));
      continue;
    }
    for (const auto& [name, value] : gene.parameters)
      if (const auto was = old->parameters.find(name); was != old->parameters.end() && was->second != value)
        parts.push_back(fmt::format("g{} {} {} -> {}", g, name, was->second, value));
  }
  return parts.empty() ? "no change" : join(parts, ", ");
}

}  // namespace kerf::synth
