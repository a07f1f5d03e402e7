#pragma once
// A claim about a kernel with everything needed to check it again: task, source, evaluation, environment, hashes.

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "export/export.hpp"
#include "model/evaluation.hpp"
#include "model/task.hpp"
#include "run/run_view.hpp"

namespace kerf::exporting {

inline constexpr int kProofSchema = 2;  ///< of claim.json; bundles of other schemas are refused

/// What a bundle says. `evaluation` is what was measured when the claim was made.
struct Proof {
  std::string task_name, task_source;
  std::string task_files;                  ///< JSON {path: text}; "" when the task names no files
  std::string kernel_name, kernel_source;  ///< the file's name in the bundle
  std::string run, kerf_version, toolchain, config;
  std::int64_t step = 0;
  Evaluation evaluation;
};

Result<Proof> proof_of(const RunView& run, std::int64_t step);

/// The bundle's files; the last is manifest.sha256 with the SHA-256 of all others, in the form of sha256sum. Paths may
/// have folders.
std::vector<File> proof_files(const Proof& proof);

/// Identity of a bundle: SHA-256 of its manifest.
std::string proof_id(const std::vector<File>& files);

/// Writes a bundle into `folder`, which need not be there. What is in it stays when it is anything but the unchanged
/// files of a bundle (invalid_input), and an older bundle stays until every file of the new one is on the disk.
Status write_proof(const std::filesystem::path& folder, const std::vector<File>& files);

/// Reads a bundle back. Every file that was changed, removed or added is named in the error. So is a claim that
/// contradicts the files beside it or itself: the whole bundle is written again from what was read, and has to be the
/// same byte for byte.
struct ReadProof {
  Proof proof;
  Task task;
  std::string id;
};
Result<ReadProof> read_proof(const std::filesystem::path& folder);

enum class SpeedCheck {
  not_checked,  ///< another device, or a timing too noisy to tell
  confirmed,    ///< the claimed ratio lies in the interval found
  refuted,
};

/// What a fresh evaluation says about the claim.
struct Comparison {
  bool right = false;  ///< it passed every gate again
  bool same_device = false;
  SpeedCheck speed = SpeedCheck::not_checked;
  Speedup claimed;
  Speedup found;  ///< over the strongest baseline measured by the check, whatever the claim is over
  std::vector<std::string> remarks;
  bool holds() const { return right && speed == SpeedCheck::confirmed; }
};
/// The ends of its interval are too far apart to say much about speed.
bool is_noisy(const Speedup& speedup);
/// `slack` is what sessions on one device differ by, on top of the intervals; single shapes get three times as much.
Comparison compare(const Evaluation& claimed, const Evaluation& fresh, double slack);

}  // namespace kerf::exporting
