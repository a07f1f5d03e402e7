#include "inspect/descriptors.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "inspect/evidence.hpp"

namespace kerf {
namespace {

using Json = nlohmann::ordered_json;

Descriptors conclude(const Evidence& evidence, std::string from) {
  Descriptors descriptors;
  descriptors.from = std::move(from);
  descriptors.seen = evidence.seen;
  for (const auto& levels : evidence.reasons) {
    int level = kLevels - 1;
    while (level > 0 && levels[static_cast<std::size_t>(level)].empty()) --level;
    descriptors.cell.push_back(level);
    descriptors.reasons.push_back(level == 0 ? "plain" : levels[static_cast<std::size_t>(level)]);
  }
  return descriptors;
}

}  // namespace

void judge_loops(const std::vector<LoopFacts>& loops, int tile_accumulators, Evidence& evidence) {
  int most = 0;
  for (const LoopFacts& loop : loops) {
    most = std::max(most, loop.carried);
    if (loop.carried >= 2 && loop.exponential > 0 && loop.maximum > 0)
      evidence.add(kCompute, 2, "a loop that keeps a running maximum and rescales its sum");
    if (loop.carried >= 2 && loop.divide > 0 && (loop.fma > 0 || loop.add > 0))
      evidence.add(kCompute, 2, "a loop that updates running moments");
    if (loop.carried >= tile_accumulators && loop.fma >= tile_accumulators)
      evidence.add(kCompute, 3, fmt::format("a register tile of {} accumulators", loop.carried));
  }
  evidence.seen["loops"] = static_cast<std::int64_t>(loops.size());
  evidence.seen["accumulators"] = most;
}

bool launches_cooperate(const LaunchPlan& plan) {
  for (std::size_t later = 1; later < plan.launches.size(); ++later)
    for (const std::string& buffer : plan.launches[later].args)
      for (std::size_t earlier = 0; earlier < later; ++earlier)
        for (const ir::TensorType& scratch : plan.scratch)
          if (scratch.name == buffer)
            for (const std::string& other : plan.launches[earlier].args)
              if (other == buffer) return true;
  return false;
}

Descriptors describe(const Artifact& artifact, const Candidate& candidate, const Bindings& constants) {
  const std::string& ptx = artifact.disassembly_hint;
  switch (artifact.kind) {
    case ArtifactKind::shared_object:  // for x86-64; others are read by their source
      if (Evidence evidence; scan_object_code(artifact.bytes, evidence)) return conclude(evidence, "object code");
      break;
    case ArtifactKind::cubin:
    case ArtifactKind::opencl_ptx:
      if (!ptx.empty()) return conclude(scan_ptx(ptx, artifact, candidate, constants), "PTX");
      break;
    case ArtifactKind::opencl_binary: break;
  }
  return conclude(scan_tokens(candidate, constants), "source tokens");
}

std::string to_json(const Descriptors& descriptors, const std::string& code) {
  Json json;
  json["cell"] = descriptors.cell;
  json["from"] = descriptors.from;
  json["reasons"] = descriptors.reasons;
  json["seen"] = descriptors.seen;
  json["code"] = code;
  return json.dump();
}

std::string code_of(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("code") || !json["code"].is_string()) return "";
  return json["code"].get<std::string>();
}

}  // namespace kerf
