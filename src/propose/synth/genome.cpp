#include "propose/synth/genome.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace kerf::synth {

using nlohmann::json;

std::string to_json(const Genome& genome) {
  json genes = json::array();
  for (const Gene& gene : genome.genes) {
    json parameters = json::object();
    for (const auto& [name, value] : gene.parameters) parameters[name] = value;
    genes.push_back(
        {{"root", gene.root}, {"family", gene.family}, {"variant", gene.variant}, {"parameters", parameters}});
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
  for (std::size_t g = 0; g < genome.genes.size(); ++g)
    for (auto& [name, value] : genome.genes[g].parameters)
      for (const auto& [tunable, used] : tunables) {
        const std::string ending = fmt::format("{}_{}", g, name);
        const std::size_t base = tunable.size() - std::min(tunable.size(), ending.size());
        if (base > 0 && tunable.ends_with(ending) && std::isdigit(static_cast<unsigned char>(tunable[base - 1])) == 0)
          value = used;
      }
  return genome;
}

}  // namespace kerf::synth
