#pragma once
// A claim about a kernel with everything needed to check it again: task, source, evaluation, environment, hashes.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "export/export.hpp"
#include "model/evaluation.hpp"
#include "run/run_view.hpp"

namespace kerf::exporting {

inline constexpr int kProofSchema = 1;

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

/// Reads a bundle back. Every file that was changed, removed or added is named in the error; so is a claim that
/// contradicts the files beside it.
struct ReadProof {
  Proof proof;
  std::string id;
};
Result<ReadProof> read_proof(const std::filesystem::path& folder);

/// What a fresh evaluation says about the claim.
struct Comparison {
  bool right = false;  ///< it passed every gate again
  bool same_device = false;
  bool as_fast = false;    ///< not slower than claimed beyond the noise; meaningless on another device
  Speedup claimed, found;  ///< over the same baseline
  std::vector<std::string> remarks;
  bool holds() const { return right && (as_fast || !same_device); }
};
/// `slack` is what sessions on one device differ by, on top of the intervals.
Comparison compare(const Evaluation& claimed, const Evaluation& fresh, double slack);

}  // namespace kerf::exporting
