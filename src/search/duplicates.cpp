#include "search/duplicates.hpp"

#include <fmt/format.h>

#include <cctype>

#include "base/c_lexer.hpp"
#include "base/hash.hpp"
#include "model/candidate_header.hpp"

namespace kerf {
namespace {

/// The launches as numbers: code that is the same may still be launched differently.
std::string plan_text(const LaunchPlan& plan, const Bindings& constants) {
  std::string text;
  const auto number = [&](const Dim& dim) {
    const auto value = dim.evaluate(constants);
    text += value ? fmt::format("{},", *value) : "?,";
  };
  for (const ir::TensorType& scratch : plan.scratch) {
    text += "scratch ";
    for (const Dim& extent : scratch.shape) number(extent);
  }
  for (const Launch& launch : plan.launches) {
    text += launch.kernel + "<";
    for (const Dim& extent : launch.grid) number(extent);
    text += ";";
    for (const Dim& extent : launch.block) number(extent);
    text += ";";
    number(launch.shared_bytes);
    text += ">";
    for (const std::string& argument : launch.args) text += argument + " ";
  }
  return text;
}

}  // namespace

std::string source_identity(const Candidate& candidate, const Bindings& tunables) {
  std::string text = candidate.target + "\n" + plain_source(candidate.source) + "\n";
  if (const auto entries = read_header(candidate.source, {"target", "tune", "require", "scratch", "launch"}))
    for (const HeaderEntry& entry : *entries)
      if (entry.key != "tune" && entry.key != "target") text += entry.key + ":" + entry.value + "\n";
  for (const auto& [name, value] : tunables) text += fmt::format("{}={}\n", name, value);
  return sha256_hex(text);
}

std::string code_identity(const LaunchPlan& plan, const Judge::Compiled& compiled) {
  std::string identity;
  for (std::size_t i = 0; i < compiled.artifacts.size(); ++i)
    identity += compiled.artifacts[i].id + plan_text(plan, compiled.constants[i]);
  return sha256_hex(identity);
}

}  // namespace kerf
