#pragma once
// The kernel families as files: kernels/<family>/manifest.toml and its templates, built into the program.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/candidate.hpp"
#include "model/task.hpp"

namespace kerf::synth {

/// One way a family writes its kernels: a template and what may be tuned in it.
struct Variant {
  std::string family;
  std::string name;
  std::string file;                    ///< "matmul/tiled.gpu.in"
  std::string text;                    ///< the template
  std::vector<std::string> languages;  ///< that the template is written in: "cpp", "opencl_c", "cuda_cpp"
  std::vector<std::string> needs;      ///< what language and device must have ("!": must not), see capabilities.hpp
  std::vector<Precision> precisions;   ///< accuracy classes it reaches; empty: all
  std::vector<std::string> when;       ///< names of filled-in values that must be "1": "A_DIRECT" ("!A_DIRECT": "0")
  std::string unit;                    ///< that multiplies and adds, as peaks name it ("tensor_f16"); "": any
  double work = 1;                     ///< products it computes with the unit for one of the task
  std::vector<std::string> padded;  ///< {terms it computes with its padding, terms without}; empty: nothing is padded
  double moves = 1;                 ///< how often its operands cross the memory bus, copies of its own included
  bool rereads = false;             ///< its operands are read once for each of its passes
  std::vector<Tunable> tunables;    ///< without prefix; the first value is the default
  Bindings constants;               ///< numbers the template is filled in with: `define` in the manifest
  std::vector<std::string> requirements;  ///< over $values, $tunables and shape symbols
  std::vector<std::string> preferences;   ///< likewise, what the first guess should meet on timed shapes
  std::vector<std::string> scratch;       ///< "$partial = f32[$ROWS, $SPLIT]"
  std::vector<std::string> launches;      ///< "$main<<<ceil_div($ROWS, $BLOCK), $BLOCK>>>($args)"; cpu: "$main($args)"
};

/// The variants of kernels/<family>/manifest.toml with this text; an error names the variant and the nearest known
/// word.
Result<std::vector<Variant>> read_manifest(const std::string& family, std::string_view text);

/// Every variant of every family, parsed from the files built into the program; families in alphabetical order.
Result<std::vector<Variant>> load_catalogue();

/// Text of a built-in file ("dialect/cuda.h"); not_found names the nearest.
Result<std::string_view> built_in_file(std::string_view path);

}  // namespace kerf::synth
