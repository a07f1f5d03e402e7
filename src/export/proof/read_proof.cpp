// Bundles from outside: nothing in them is believed that can be worked out from the rest.

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/one_line.hpp"
#include "export/proof/bundle.hpp"
#include "export/proof/proof.hpp"
#include "measure/combine.hpp"
#include "model/candidate.hpp"
#include "run/run_task.hpp"
#include "target/target.hpp"

namespace kerf::exporting {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;
using Files = std::map<std::string, std::string>;

constexpr const char* kTaskFolder = "task/";

tl::unexpected<Error> tampered(const std::string& what) {
  return fail(Errc::invalid_input, "the bundle was tampered with: " + what);
}

Result<Proof> read_claim(const std::string& text) {
  Proof proof;
  try {
    const Json json = Json::parse(text);
    if (const int schema = json.at("schema").get<int>(); schema != kProofSchema)
      return fail(Errc::invalid_input,
                  fmt::format("the claim has schema {}, this kerf knows {}; write the proof again with kerf prove RUN",
                              schema, kProofSchema));
    proof.task_name = json.at("task").get<std::string>();
    proof.kernel_name = json.at("kernel").get<std::string>();
    proof.run = json.at("run").get<std::string>();
    proof.step = json.at("step").get<std::int64_t>();
    proof.kerf_version = json.at("kerf_version").get<std::string>();
    proof.toolchain = json.at("toolchain").get<std::string>();
    proof.config = json.at("config").get<std::string>();
    KERF_TRY(proof.evaluation, evaluation_from_json(json.at("evaluation").dump()));
  } catch (const std::exception& error) {
    return fail(Errc::invalid_input, fmt::format("the claim cannot be read: {}", one_line(error.what())));
  }
  return proof;
}

/// The files beside the task, as `restore_task` takes them.
std::string beside_the_task(const Files& files) {
  Json named = Json::object();
  for (const auto& [path, text] : files)
    if (path.starts_with(kTaskFolder) && path != "task/task.toml") named[path.substr(5)] = text;
  return named.empty() ? "" : named.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The claim is about this task and this kernel, on a target that there is.
Status check_subject(const Proof& proof, const Task& task) {
  const Evaluation& claimed = proof.evaluation;
  KERF_TRY_VOID(check_target_name(claimed.target));
  if (task.id != claimed.task_id || task.name != proof.task_name || task.name != claimed.task)
    return tampered("task/task.toml is not the task that the claim is about");
  if (proof.kernel_name != "kernel" + target_extension(claimed.target))
    return tampered(fmt::format("'{}' is no name of a kernel for {}", one_line(proof.kernel_name), claimed.target));
  if (sha256_hex(proof.kernel_source) != claimed.candidate_id)
    return tampered(proof.kernel_name + " is not the kernel that the claim is about");
  KERF_TRY(const Candidate candidate, parse_candidate(proof.kernel_name, proof.kernel_source));
  if (!candidate.target.empty() && candidate.target != claimed.target)
    return tampered(fmt::format("the kernel is for {}, the claim for {}", candidate.target, claimed.target));
  return {};
}

bool near(double a, double b, double tolerance) { return std::abs(a - b) <= tolerance * std::abs(b); }

bool is_interval(const Speedup& speedup) {
  return speedup.low > 0 && speedup.low <= speedup.ratio && speedup.ratio <= speedup.high &&
         std::isfinite(speedup.high);
}

/// The claimed speedup follows from those of the shapes, and these are the timed ones of the task.
Status check_figures(const Proof& proof, const Task& task) {
  const auto* measured = std::get_if<Measurement>(&proof.evaluation.outcome);
  if (measured == nullptr || measured->shapes.empty()) return tampered("the claim has no measurement");
  if (measured->comparison) return tampered("the claim compares with a kernel that is not in the bundle");
  std::map<std::string, double> timed, shown;
  for (const ShapeSet& set : shapes_for(task, proof.evaluation.target))
    if (set.weight > 0) timed[set.name] = set.weight;
  for (const ShapeMeasurement& shape : measured->shapes) shown[shape.shape] = shape.weight;
  if (timed != shown || shown.size() != measured->shapes.size())
    return tampered("the claim is not about the timed shapes of the task");
  const auto combined = speedup_over(*measured, measured->speedup.vs);
  const Speedup& claimed = measured->speedup;
  if (!combined || !is_interval(claimed) || !near(claimed.ratio, combined->ratio, 1e-3) ||
      !near(claimed.low, combined->low, 1e-2) || !near(claimed.high, combined->high, 1e-2))
    return tampered("the claimed speedup does not follow from those of its shapes");
  return {};
}

/// The bundle is what would be written for what was read from it.
Status check_rewritten(const Proof& proof, const Files& files) {
  Files expected;
  for (auto& file : proof_files(proof)) expected[file.path] = std::move(file.text);
  for (const auto& [path, text] : files)
    if (!expected.contains(path)) return tampered(one_line(path) + " does not belong to the claim");
  for (const auto& [path, text] : expected) {
    const auto found = files.find(path);
    if (found == files.end()) return tampered(one_line(path) + " is missing");
    if (found->second != text)
      return tampered(
          fmt::format("{} is not what the claim's data give (this is kerf's own form of it; a bundle of "
                      "another version of kerf has to be written again)",
                      one_line(path)));
  }
  return {};
}

}  // namespace

Result<ReadProof> read_proof(const fs::path& folder) {
  KERF_TRY(const Files files, read_bundle(folder));
  KERF_TRY_VOID(check_manifest(folder, files));
  for (const char* needed : {"claim.json", "task/task.toml"})
    if (!files.contains(needed)) return tampered(std::string(needed) + " is missing");
  ReadProof read;
  KERF_TRY(read.proof, read_claim(files.at("claim.json")));
  const auto kernel = files.find(read.proof.kernel_name);
  if (kernel == files.end() || read.proof.kernel_name == kManifest)
    return tampered(fmt::format("the kernel '{}' is missing", one_line(read.proof.kernel_name)));
  read.proof.kernel_source = kernel->second;
  read.proof.task_source = files.at("task/task.toml");
  KERF_TRY(read.task, restore_task(read.proof.task_source, beside_the_task(files), read.proof.task_name));
  read.proof.task_files = task_files(read.task);
  KERF_TRY_VOID(check_places(read.proof.task_files));
  KERF_TRY_VOID(check_subject(read.proof, read.task));
  KERF_TRY_VOID(check_figures(read.proof, read.task));
  KERF_TRY_VOID(check_rewritten(read.proof, files));
  read.id = sha256_hex(files.at(kManifest));
  return read;
}

}  // namespace kerf::exporting
