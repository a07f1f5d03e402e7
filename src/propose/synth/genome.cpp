#include "propose/synth/genome.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace kerf::synth {

using nlohmann::json;

std::string to_json(const Genome& genome, const std::vector<std::size_t>& kernels) {
  json genes = json::array();
  for (std::size_t g = 0; g < genome.genes.size(); ++g) {
    const Gene& gene = genome.genes[g];
    json parameters = json::object();
    for (const auto& [name, value] : gene.parameters) parameters[name] = value;
    genes.push_back(
        {{"root", gene.root}, {"family", gene.family}, {"variant", gene.variant}, {"parameters", parameters}});
    if (g < kernels.size() && kernels[g] != g) genes.back()["kernels_of"] = kernels[g];
  }
  return json{{"form", genome.rewrite}, {"genes", genes}}.dump();
}

Result<Genome> genome_from_json(std::string_view text) {
  try {
    const json value = json::parse(text);
    Genome genome;
    genome.rewrite = value.at("form").get<int>();
    for (const json& item : value.at("genes")) {
      Gene gene;
      gene.root = item.at("root").get<int>();
      gene.family = item.at("family").get<std::string>();
      gene.variant = item.at("variant").get<std::string>();
      for (const auto& [name, number] : item.at("parameters").items())
        gene.parameters[name] = number.get<std::int64_t>();
      genome.genes.push_back(std::move(gene));
    }
    return genome;
  } catch (const json::exception& error) {
    return fail(Errc::invalid_input, fmt::format("not a genome: {}", error.what()));
  }
}

Result<Genome> genome_with(std::string_view text, const Bindings& tunables) {
  KERF_TRY(Genome genome, genome_from_json(text));
  const json stored = json::parse(text)["genes"];  // it was read just now
  for (std::size_t g = 0; g < genome.genes.size(); ++g) {
    const json& kernels = stored[g].value("kernels_of", json());
    const std::size_t number = kernels.is_number_unsigned() ? kernels.get<std::size_t>() : g;
    for (auto& [name, value] : genome.genes[g].parameters) {
      const std::string ending = fmt::format("{}_{}", number, name);
      for (const auto& [tunable, used] : tunables) {
        const std::size_t base = tunable.size() - std::min(tunable.size(), ending.size());
        if (base > 0 && tunable.ends_with(ending) && std::isdigit(static_cast<unsigned char>(tunable[base - 1])) == 0)
          value = used;
      }
    }
  }
  return genome;
}

}  // namespace kerf::synth
