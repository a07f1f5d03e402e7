#include "memory/recipe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "memory/limits.hpp"

namespace kerf::memory {
namespace {

std::vector<std::string> recipe_features(const Recipe& recipe) {
  std::vector<std::string> features;
  for (const RecipeGene& gene : recipe.genes) {
    const std::string name = gene.family + "/" + gene.variant;
    features.push_back(name);
    features.push_back(name);
    for (const auto& [parameter, value] : gene.parameters)
      features.push_back(fmt::format("{} {}={}", name, parameter, value));
  }
  std::sort(features.begin(), features.end());
  return features;
}

Result<RecipeGene> gene_from(const nlohmann::json& item) {
  RecipeGene gene;
  KERF_TRY(gene.family, limited_text(item, "family", kLongestWord));
  KERF_TRY(gene.variant, limited_text(item, "variant", kLongestWord));
  KERF_TRY(gene.operators, limited_words(item, "operators"));
  KERF_TRY(gene.parameters, limited_bindings(item, "parameters"));
  return gene;
}

}  // namespace

std::string composition(const Recipe& recipe) {
  std::vector<std::string> names;
  for (const RecipeGene& gene : recipe.genes) names.push_back(gene.family + "/" + gene.variant);
  return join(names, " + ");
}

std::string recipe_words(const Recipe& recipe) {
  std::vector<std::string> parts;
  for (const RecipeGene& gene : recipe.genes) {
    std::string text = gene.family + "/" + gene.variant;
    for (const auto& [name, value] : gene.parameters) text += fmt::format(" {}={}", name, value);
    parts.push_back(std::move(text));
  }
  return join(parts, " + ");
}

double likeness(const Recipe& a, const Recipe& b) {
  const auto left = recipe_features(a), right = recipe_features(b);
  if (left.empty() && right.empty()) return 1;
  std::vector<std::string> common;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(common));
  return static_cast<double>(common.size()) / static_cast<double>(left.size() + right.size() - common.size());
}

std::string to_json(const Recipe& recipe) {
  auto genes = nlohmann::json::array();
  for (const RecipeGene& gene : recipe.genes)
    genes.push_back(
        {{"family", gene.family},
         {"variant", gene.variant},
         {"operators", gene.operators},
         {"parameters", std::map<std::string, std::int64_t>(gene.parameters.begin(), gene.parameters.end())}});
  return nlohmann::json{{"graph", recipe.graph}, {"genome", recipe.genome}, {"genes", genes}}.dump(
      -1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<Recipe> recipe_from_json(std::string_view text) {
  if (text.size() > kLongestRecord) return fail(Errc::invalid_input, "the recipe is too long");
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return fail(Errc::invalid_input, "the recipe is not a JSON object");
  Recipe recipe;
  KERF_TRY(recipe.graph, limited_text(json, "graph", kLongestWord));
  KERF_TRY(recipe.genome, limited_text(json, "genome", kLongestGenome));
  const auto genes = json.find("genes");
  if (genes == json.end() || !genes->is_array() || genes->empty() || genes->size() > kMostGenes)
    return fail(Errc::invalid_input, fmt::format("'genes' is not a list of 1 to {} groups", kMostGenes));
  for (const auto& item : *genes) {
    KERF_TRY(RecipeGene gene, gene_from(item));
    recipe.genes.push_back(std::move(gene));
  }
  return recipe;
}

}  // namespace kerf::memory
