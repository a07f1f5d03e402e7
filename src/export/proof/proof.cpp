#include "export/proof/proof.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/one_line.hpp"
#include "export/parts.hpp"
#include "export/proof/bundle.hpp"
#include "target/target.hpp"

namespace kerf::exporting {
namespace {

using Json = nlohmann::ordered_json;

std::string claim_json(const Proof& proof) {
  Json json;
  json["schema"] = kProofSchema;
  json["task"] = proof.task_name;
  json["kernel"] = proof.kernel_name;
  json["run"] = proof.run;
  json["step"] = proof.step;
  json["kerf_version"] = proof.kerf_version;
  json["toolchain"] = proof.toolchain;
  json["config"] = proof.config;
  json["has_task_files"] = !proof.task_files.empty();
  json["evaluation"] = Json::parse(to_json(proof.evaluation));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string ratio_text(const Speedup& speedup) {
  return fmt::format("{:.3g} times (95 % interval {:.3g} to {:.3g})", speedup.ratio, speedup.low, speedup.high);
}

/// Of the timed shapes: what is claimed, and the times it was read off.
std::string shapes_text(const Measurement& measurement) {
  std::string text;
  for (const auto& shape : measurement.shapes) {
    const auto speedup = shape.speedups.find(measurement.speedup.vs);
    text +=
        fmt::format("- {}: {}, {:.4g} us when it was measured\n", one_line(shape.shape),
                    speedup == shape.speedups.end() ? "not claimed" : ratio_text(speedup->second), shape.time.median);
  }
  return text;
}

/// For people. Texts of the claim are shown on one line each, so that none of them can pass for Kerf's own words.
std::string instructions(const Proof& proof) {
  const auto* measurement = std::get_if<Measurement>(&proof.evaluation.outcome);
  std::string tunables;
  for (const auto& [name, value] : proof.evaluation.tunables)
    tunables += fmt::format(" --set {}={}", one_line(name), value);
  const Speedup speedup = measurement != nullptr ? measurement->speedup : Speedup{};
  return filled("PROOF.md.in", {{"TASK", one_line(proof.task_name)},
                                {"TASK_ID", one_line(proof.evaluation.task_id)},
                                {"TARGET", one_line(proof.evaluation.target)},
                                {"DEVICE", one_line(proof.evaluation.device)},
                                {"TOOLCHAIN", one_line(proof.toolchain)},
                                {"VERSION", one_line(proof.kerf_version)},
                                {"KERNEL", one_line(proof.kernel_name)},
                                {"ID", one_line(proof.evaluation.candidate_id)},
                                {"SEED", std::to_string(proof.evaluation.seed)},
                                {"RATIO", ratio_text(speedup)},
                                {"VS", one_line(speedup.vs)},
                                {"SHAPES", measurement != nullptr ? shapes_text(*measurement) : ""},
                                {"SEEN", seen_words(proof.evaluation)},
                                {"TUNABLES", tunables}});
}

}  // namespace

Result<Proof> proof_of(const RunView& run, std::int64_t step) {
  const Step& claimed = run.step(step);
  Proof proof;
  proof.task_name = run.fact("task");
  proof.task_source = run.fact("task_source");
  proof.task_files = run.fact("task_files");
  proof.kernel_name = "kernel" + target_extension(claimed.evaluation.target);
  proof.kernel_source = claimed.source;
  proof.run = run.folder.filename().string();
  proof.kerf_version = run.fact("kerf_version");
  proof.toolchain = run.fact("toolchain");
  proof.config = run.fact("config");
  proof.step = step;
  proof.evaluation = claimed.evaluation;
  proof.evaluation.candidate_id = sha256_hex(claimed.source);
  if (auto* measured = std::get_if<Measurement>(&proof.evaluation.outcome))
    measured->comparison.reset();  // with a kernel that is not in the bundle: nobody could check it
  KERF_TRY_VOID(check_places(proof.task_files));
  return proof;
}

std::vector<File> proof_files(const Proof& proof) {
  std::vector<File> files{{"PROOF.md", instructions(proof)},
                          {"claim.json", claim_json(proof)},
                          {proof.kernel_name, proof.kernel_source},
                          {"task/task.toml", proof.task_source}};
  if (!proof.task_files.empty()) {
    const Json named = Json::parse(proof.task_files);
    for (const auto& [name, text] : named.items())
      files.push_back({place_in_bundle(name).value(), text.get<std::string>()});
  }
  std::string manifest;
  for (const auto& file : files) manifest += fmt::format("{}  {}\n", sha256_hex(file.text), file.path);
  files.push_back({kManifest, manifest});
  return files;
}

std::string proof_id(const std::vector<File>& files) { return sha256_hex(files.back().text); }

}  // namespace kerf::exporting
