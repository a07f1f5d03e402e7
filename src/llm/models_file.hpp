#pragma once
// Models in a TOML file: where they are, what they cost, how much they may be asked. docs/formats.md has the keys.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "llm/client.hpp"

namespace kerf::llm {

/// Errors begin with `where` and name the nearest known key. At least one model; names differ.
Result<std::vector<ModelSpec>> parse_models(const std::string& toml, const std::string& where);

/// The same as text; what a run keeps of its models.
std::string to_toml(const std::vector<ModelSpec>& models);

}  // namespace kerf::llm
