#pragma once
// A candidate: one source file with its `kerf` header, parsed.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "ir/dim.hpp"
#include "ir/expression/expression.hpp"

namespace kerf {

struct Tunable {
  std::string name;
  std::vector<std::int64_t> values;  ///< the first is the default
};

/// One kernel launch. For GPU languages `grid` counts work-groups and `block` work-items per group, x first.
struct Launch {
  std::string kernel;
  std::vector<Dim> grid;          ///< 1 to 3 extents
  std::vector<Dim> block;         ///< 1 to 3 extents
  Dim shared_bytes = 0;           ///< dynamic shared (local) memory
  std::vector<std::string> args;  ///< buffer names: inputs, outputs, scratch
};

/// How to run a compiled candidate. Launches run in order on one queue; later ones see what earlier ones wrote, so
/// values computed on the device (in scratch or outputs) may steer later launches. No launches: the C++ entry point is
/// called.
struct LaunchPlan {
  std::vector<ir::TensorType> scratch;  ///< in declaration order; contents undefined (poisoned) before every call
  std::vector<Launch> launches;
};

struct Candidate {
  std::string name;    ///< file name or proposer's label, for people
  std::string source;  ///< the whole file
  std::string target;  ///< "cpu", "opencl", "cuda", ...
  std::vector<Tunable> tunables;
  std::vector<Dim> requirements;  ///< each must evaluate to non-zero for the shapes and tunables in use
  std::vector<std::string> requirement_texts;
  LaunchPlan plan;
  std::string id;  ///< SHA-256 of `source`
};

/// Parses the header (the first comment that starts with "/* kerf"). Errors give the line and the nearest known key.
/// Does not know the task: buffer names and symbols are checked by `check_against` in task/.
Result<Candidate> parse_candidate(std::string name, std::string source);

/// The source with the values of its header's `tune` lines reordered so that `values` come first and are the defaults;
/// the layout of the text stays. Tunables that are not in `values` keep their order. Unknown names and values are
/// errors.
Result<std::string> with_defaults(const std::string& source, const Bindings& values);

/// The source with the values of every `tune` line in rising order: the same text for a kernel whatever its defaults
/// are. A source without a readable header is its own.
std::string without_defaults(const std::string& source);

}  // namespace kerf
