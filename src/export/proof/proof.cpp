#include "export/proof/proof.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"
#include "export/parts.hpp"
#include "measure/combine.hpp"
#include "target/target.hpp"

namespace kerf::exporting {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kManifest = "manifest.sha256";

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

std::string instructions(const Proof& proof) {
  const auto* measurement = std::get_if<Measurement>(&proof.evaluation.outcome);
  std::string tunables, shapes;
  for (const auto& [name, value] : proof.evaluation.tunables) tunables += fmt::format(" --set {}={}", name, value);
  if (measurement != nullptr)
    for (const auto& shape : measurement->shapes)
      shapes += fmt::format("- {}: {:.4g} us ({:.4g} to {:.4g})\n", shape.shape, shape.time.median, shape.time.low,
                            shape.time.high);
  const Speedup speedup = measurement != nullptr ? measurement->speedup : Speedup{};
  return filled("PROOF.md.in", {{"TASK", proof.task_name},
                                {"TARGET", proof.evaluation.target},
                                {"DEVICE", proof.evaluation.device},
                                {"TOOLCHAIN", proof.toolchain},
                                {"VERSION", proof.kerf_version},
                                {"KERNEL", proof.kernel_name},
                                {"ID", proof.evaluation.candidate_id},
                                {"SEED", std::to_string(proof.evaluation.seed)},
                                {"RATIO", fmt::format("{:.3g}", speedup.ratio)},
                                {"LOW", fmt::format("{:.3g}", speedup.low)},
                                {"HIGH", fmt::format("{:.3g}", speedup.high)},
                                {"VS", speedup.vs},
                                {"SHAPES", shapes},
                                {"TUNABLES", tunables}});
}

/// Where a file that the task names lies in the bundle.
Result<fs::path> place_of(const std::string& name) {
  const fs::path relative = fs::path(name).lexically_normal();
  if (relative.empty() || relative.is_absolute() || relative.string().starts_with(".."))
    return fail(Errc::invalid_input, fmt::format("the task names '{}', which is outside of its folder", name));
  return fs::path("task") / relative;
}

/// What the manifest promises, by path.
Result<std::map<std::string, std::string>> read_manifest(const fs::path& folder) {
  auto text = read_file(folder / kManifest);
  if (!text)
    return fail(Errc::not_found, fmt::format("{} is no proof bundle: it has no {}", folder.string(), kManifest));
  std::map<std::string, std::string> promised;
  for (const auto& line : split(*text, '\n')) {
    if (line.empty()) continue;
    if (line.size() < 67 || line.substr(64, 2) != "  ")
      return fail(Errc::invalid_input, fmt::format("{} was tampered with: '{}' is no line of it", kManifest, line));
    promised[line.substr(66)] = line.substr(0, 64);
  }
  return promised;
}

std::set<std::string> files_in(const fs::path& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (auto entry = fs::recursive_directory_iterator(folder, error); entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (error) break;
    if (!entry->is_directory(error)) names.insert(entry->path().lexically_relative(folder).string());
  }
  return names;
}

/// Every file is there, unchanged, and nothing else is.
Status check_hashes(const fs::path& folder) {
  KERF_TRY(const auto promised, read_manifest(folder));
  auto found = files_in(folder);
  found.erase(kManifest);
  std::vector<std::string> wrong;
  for (const auto& [path, hash] : promised) {
    if (!found.contains(path)) {
      wrong.push_back(path + " is missing");
      continue;
    }
    const auto text = read_file(folder / path);
    if (!text || sha256_hex(*text) != hash) wrong.push_back(path + " was changed");
  }
  for (const auto& path : found)
    if (!promised.contains(path)) wrong.push_back(path + " was added");
  for (const char* needed : {"claim.json", "task/task.toml"})
    if (!promised.contains(needed)) wrong.push_back(std::string(needed) + " is not in the manifest");
  if (wrong.empty()) return {};
  return fail(Errc::invalid_input,
              fmt::format("the bundle {} was tampered with: {}", folder.string(), join(wrong, ", ")));
}

Result<Proof> read_claim(const fs::path& folder) {
  KERF_TRY(const std::string text, read_file(folder / "claim.json"));
  Proof proof;
  try {
    const Json json = Json::parse(text);
    if (const int schema = json.at("schema").get<int>(); schema != kProofSchema)
      return fail(Errc::invalid_input, fmt::format("{}: schema {} is not known to this kerf", folder.string(), schema));
    proof.task_name = json.at("task").get<std::string>();
    proof.kernel_name = json.at("kernel").get<std::string>();
    proof.run = json.at("run").get<std::string>();
    proof.step = json.at("step").get<std::int64_t>();
    proof.kerf_version = json.at("kerf_version").get<std::string>();
    proof.toolchain = json.at("toolchain").get<std::string>();
    proof.config = json.at("config").get<std::string>();
    KERF_TRY(proof.evaluation, evaluation_from_json(json.at("evaluation").dump()));
    if (json.at("has_task_files").get<bool>()) {
      Json files = Json::object();
      for (const auto& name : files_in(folder / "task"))
        if (name != "task.toml") {
          KERF_TRY(files[name], read_file(folder / "task" / name));
        }
      proof.task_files = files.dump(-1, ' ', false, Json::error_handler_t::replace);
    }
  } catch (const std::exception& error) {
    return fail(Errc::invalid_input, fmt::format("{}: the claim cannot be read: {}", folder.string(), error.what()));
  }
  if (fs::path(proof.kernel_name).filename() != proof.kernel_name || proof.kernel_name.empty())
    return fail(Errc::invalid_input,
                fmt::format("{}: '{}' is no name for a kernel's file", folder.string(), proof.kernel_name));
  KERF_TRY(proof.task_source, read_file(folder / "task" / "task.toml"));
  KERF_TRY(proof.kernel_source, read_file(folder / proof.kernel_name));
  return proof;
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
  if (!proof.task_files.empty()) {
    const Json files = Json::parse(proof.task_files, nullptr, false);
    if (!files.is_object()) return fail(Errc::io, "the run's 'task_files' cannot be read");
    for (const auto& [name, text] : files.items()) {
      KERF_TRY_VOID(place_of(name).transform([](const auto&) {}));
    }
  }
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
      files.push_back({place_of(name).value().string(), text.get<std::string>()});
  }
  std::string manifest;
  for (const auto& file : files) manifest += fmt::format("{}  {}\n", sha256_hex(file.text), file.path);
  files.push_back({kManifest, manifest});
  return files;
}

std::string proof_id(const std::vector<File>& files) { return sha256_hex(files.back().text); }

Result<ReadProof> read_proof(const fs::path& folder) {
  KERF_TRY_VOID(check_hashes(folder));
  ReadProof read;
  KERF_TRY(read.proof, read_claim(folder));
  KERF_TRY(const std::string manifest, read_file(folder / kManifest));
  read.id = sha256_hex(manifest);
  if (sha256_hex(read.proof.kernel_source) != read.proof.evaluation.candidate_id)
    return fail(Errc::invalid_input,
                fmt::format("the bundle {} was tampered with: {} is not the kernel that the claim is about",
                            folder.string(), read.proof.kernel_name));
  return read;
}

Comparison compare(const Evaluation& claimed, const Evaluation& fresh, double slack) {
  Comparison result;
  result.same_device = claimed.device == fresh.device && claimed.target == fresh.target;
  if (!result.same_device)
    result.remarks.push_back(fmt::format("the claim was made on '{}', this is '{}': its speed cannot be compared here",
                                         claimed.device, fresh.device));
  if (claimed.toolchain != fresh.toolchain)
    result.remarks.push_back(fmt::format("the tools differ: '{}' then, '{}' now", claimed.toolchain, fresh.toolchain));
  const auto* then = std::get_if<Measurement>(&claimed.outcome);
  const auto* now = std::get_if<Measurement>(&fresh.outcome);
  if (then != nullptr) result.claimed = then->speedup;
  result.right = now != nullptr;
  if (now == nullptr || then == nullptr) return result;
  result.found = now->speedup.vs == result.claimed.vs
                     ? now->speedup
                     : speedup_over(*now, result.claimed.vs).value_or(Speedup{result.claimed.vs, 0, 0, 0});
  if (!(result.found.ratio > 0)) {
    result.remarks.push_back(fmt::format("the baseline '{}' of the claim was not measured here", result.claimed.vs));
    return result;
  }
  if (result.found.high > 1.5 * result.found.low)
    result.remarks.push_back("the timing here is noisy: its interval is too wide to say much about speed");
  result.as_fast = result.found.high * (1 + slack) >= result.claimed.low;
  return result;
}

}  // namespace kerf::exporting
