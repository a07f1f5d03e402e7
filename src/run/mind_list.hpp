#pragma once
// The list of minds, one entry each: names, what they can write, and how they are made (minds.cpp).

#include <memory>
#include <span>
#include <string_view>

#include "base/result.hpp"
#include "propose/proposer.hpp"

namespace kerf {

struct MindParts;

struct MindEntry {
  std::string_view name;  ///< as in --mind and in runs; never renamed
  bool agent = false;     ///< is told the task in words and writes kernels of any; the others know expressions only
  Result<std::unique_ptr<Proposer>> (*make)(const MindParts& parts) = nullptr;
};

std::span<const MindEntry> all_minds();
/// The entry of a name that `parse_mind_names` let pass.
const MindEntry& mind_entry(std::string_view name);

}  // namespace kerf
