#include "propose/synth/adapt.hpp"

#include <algorithm>
#include <span>

#include "memory/operators.hpp"

namespace kerf::synth {
namespace {

using memory::Recipe;
using memory::RecipeGene;

constexpr double kAnchorWeight = 3;      // reductions, products and the like against elementwise operators
constexpr double kUnusedPenalty = 0.3;   // when no group takes up a gene of the recipe
constexpr double kExtraGroup = 0.15;     // for every group more than the recipe has: one more pass over the data
constexpr double kLeastLikeness = 0.05;  // of a group and a gene that may be computed alike
constexpr double kFamilyShare = 0.5;     // of the likeness when the family has to use another variant
constexpr std::size_t kMostLayouts = 3;

std::vector<std::string> operators_of(const Group& group, const ir::Graph& graph) {
  std::vector<std::string> words;
  for (const ir::NodeId id : group.members) {
    const std::string word = memory::operator_word(graph[id]);
    const bool anchor = std::find(group.anchors.begin(), group.anchors.end(), id) != group.anchors.end();
    for (double i = 0; i < (anchor ? kAnchorWeight : 1); ++i) words.push_back(word);
  }
  std::sort(words.begin(), words.end());
  return words;
}

/// The variants of a family differ in what they can compute; the family's first guess stands in for one that cannot.
const Option* option_of_family(std::span<const Option> options, const RecipeGene& gene) {
  for (const Option& option : options)
    if (option.variant->family == gene.family) return &option;
  return nullptr;
}

const Option* option_named(std::span<const Option> options, const RecipeGene& gene) {
  for (const Option& option : options)
    if (option.variant->family == gene.family && option.variant->name == gene.variant) return &option;
  return nullptr;
}

/// What a layout makes of a recipe.
struct Adapted {
  double likeness = 0;
  double score = 0;  ///< what layouts are ranked by
  Genome genome;
};

Adapted adapt_to(const Recipe& recipe, int rewrite, const Layout& layout, const Space& space) {
  Adapted adapted;
  adapted.genome.rewrite = rewrite;
  std::vector<bool> used(recipe.genes.size(), false);
  double weights = 0;
  for (std::size_t g = 0; g < layout.partition.groups.size(); ++g) {
    const Group& group = layout.partition.groups[g];
    if (group.copy) continue;
    const auto words = operators_of(group, layout.partition.plan.graph);
    const Option* chosen = &layout.options[g].front();
    Bindings parameters = chosen->defaults;
    double best = kLeastLikeness;
    std::size_t from = recipe.genes.size();
    for (std::size_t i = 0; i < recipe.genes.size(); ++i) {
      const Option* option = option_named(layout.options[g], recipe.genes[i]);
      const double share = option != nullptr ? 1 : kFamilyShare;
      if (option == nullptr) option = option_of_family(layout.options[g], recipe.genes[i]);
      if (option == nullptr) continue;
      const double like = share * memory::overlap(words, recipe.genes[i].operators) + (used[i] ? 0 : 1e-3);
      if (like <= best) continue;
      best = like;
      from = i;
      chosen = option;
    }
    const auto weight = static_cast<double>(words.size());
    weights += weight;
    if (from < recipe.genes.size()) {
      used[from] = true;
      parameters = space.nearest(*chosen, recipe.genes[from].parameters);
      adapted.likeness += weight * best;
    }
    adapted.genome.genes.push_back({group.root, chosen->variant->family, chosen->variant->name, parameters});
  }
  const auto unused = static_cast<double>(std::count(used.begin(), used.end(), false));
  adapted.likeness = adapted.likeness / std::max(1.0, weights) -
                     kUnusedPenalty * unused / static_cast<double>(std::max<std::size_t>(1, used.size()));
  const auto more = static_cast<double>(adapted.genome.genes.size()) - static_cast<double>(recipe.genes.size());
  adapted.score = adapted.likeness - kExtraGroup * std::max(0.0, more);
  return adapted;
}

/// Null for whatever is not a genome of this space: recipes come from anywhere.
const Layout* layout_for(const Genome& genome, Space& space) {
  if (genome.rewrite < 0 || static_cast<std::size_t>(genome.rewrite) >= space.rewrites()) return nullptr;
  const ir::Graph& graph = space.graph(genome.rewrite);
  Roots roots;
  for (const Gene& gene : genome.genes) {
    if (gene.root < 0 || static_cast<std::size_t>(gene.root) >= graph.nodes.size()) return nullptr;
    const ir::Node& node = graph[gene.root];
    if (ir::is<ir::InputAttr>(node) || ir::is<ir::ConstantAttr>(node) || ir::is<ir::IotaAttr>(node)) return nullptr;
    roots.insert(gene.root);
  }
  return space.layout(genome.rewrite, roots);
}

/// The recipe's genome itself, its parameters brought to what is allowed here; none when it does not fit.
std::optional<Genome> same_genome(const Recipe& recipe, Space& space) {
  auto genome = genome_from_json(recipe.genome);
  if (!genome) return {};
  const Layout* layout = layout_for(*genome, space);
  if (layout == nullptr || memory::structure_key(space.graph(genome->rewrite)) != recipe.graph) return {};
  for (Gene& gene : genome->genes) {
    const auto& groups = layout->partition.groups;
    const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& g) { return g.root == gene.root; });
    if (group == groups.end() || group->copy) return {};
    const Option* option = option_named(layout->options[static_cast<std::size_t>(group - groups.begin())],
                                        {{}, gene.family, gene.variant, {}});
    if (option == nullptr) return {};
    gene.parameters = space.nearest(*option, gene.parameters);
  }
  return *std::move(genome);
}

}  // namespace

std::optional<Recipe> recipe_of(const Genome& genome, Space& space) {
  const Layout* layout = layout_for(genome, space);
  if (layout == nullptr) return {};
  Recipe recipe;
  recipe.graph = memory::structure_key(space.graph(genome.rewrite));
  recipe.genome = to_json(genome);
  for (const Gene& gene : genome.genes)
    for (const Group& group : layout->partition.groups)
      if (group.root == gene.root && !group.copy)
        recipe.genes.push_back(
            {operators_of(group, layout->partition.plan.graph), gene.family, gene.variant, gene.parameters});
  if (recipe.genes.empty()) return {};
  return recipe;
}

std::vector<Genome> adapt(const Recipe& recipe, Space& space) {
  std::vector<Genome> genomes;
  if (auto same = same_genome(recipe, space)) genomes.push_back(*std::move(same));
  std::vector<Adapted> found;
  for (int rewrite = static_cast<int>(space.rewrites()); rewrite-- > 0;)
    for (const Roots& roots : space.fusion_steps(rewrite))
      if (const Layout* layout = space.layout(rewrite, roots))
        found.push_back(adapt_to(recipe, rewrite, *layout, space));
  std::stable_sort(found.begin(), found.end(), [](const Adapted& a, const Adapted& b) { return a.score > b.score; });
  for (std::size_t i = 0; i < found.size() && i < kMostLayouts; ++i)
    if (found[i].likeness > 0) genomes.push_back(std::move(found[i].genome));
  return genomes;
}

}  // namespace kerf::synth
