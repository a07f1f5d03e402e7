#pragma once
// Behaviour of a kernel, read off what the compiler made of it: which cell of the archive it belongs to, and why.
// docs/descriptors.md gives the levels of every dimension per target.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "inspect/cell.hpp"
#include "ir/dim.hpp"
#include "model/artifact.hpp"
#include "model/candidate.hpp"

namespace kerf {

struct Descriptors {
  Cell cell;
  std::map<std::string, std::int64_t> seen;  ///< what was counted: {"vector_bytes": 32, "fma": 12}
  std::vector<std::string> reasons;          ///< one per dimension, in a few words
  std::string from;                          ///< "object code", "PTX", "source tokens"
};

/// By the artifact's kind: object code of shared objects for x86-64, PTX where the compiler gives it, tokens of the
/// comment-free source otherwise.
/// `constants` are the shape symbols and tunables it was compiled with. Never fails: code that cannot be read falls
/// back to tokens.
Descriptors describe(const Artifact& artifact, const Candidate& candidate, const Bindings& constants);

/// {"cell": [1,0,2], "from": ..., "seen": {...}, "reasons": [...], "code": code}; `code` is the identity of the
/// compiled code.
std::string to_json(const Descriptors& descriptors, const std::string& code);
/// The `code` of such a text; "" when it has none.
std::string code_of(std::string_view json);

}  // namespace kerf
