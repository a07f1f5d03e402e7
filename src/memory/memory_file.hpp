#pragma once
// Memories as text, to be taken elsewhere: a first line that says what it is, then one experience a line.

#include <string>
#include <string_view>
#include <vector>

#include "memory/experience.hpp"

namespace kerf::memory {

inline constexpr int kMemoryFileSchema = 2;  ///< of what is written; 1, which has no sources, is read too

/// Without the experiences of tasks with these names (or ids), so that none of what was learned on them leaks.
std::string to_file(const std::vector<Experience>& experiences, const std::vector<std::string>& without);

struct ReadMemory {
  std::vector<Experience> experiences;
  std::vector<std::string> skipped;  ///< "line 17: 'share' is not a number from 0 to 1"
};

/// Reads what `to_file` wrote, or something else: lines that are no experience are named and passed over. The
/// experiences are marked as imported, and of their counts only a few are believed. An error when it is no memory.
Result<ReadMemory> from_file(std::string_view text, const std::vector<std::string>& without);

}  // namespace kerf::memory
