#pragma once
// Reading JSON that may come from anywhere: every count and length has a limit. Included by sources only.

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ir/dim.hpp"

namespace kerf::memory {

inline constexpr std::size_t kLongestWord = 120;   ///< of names and operator words, in bytes
inline constexpr std::size_t kLongestText = 1000;  ///< of texts for people
inline constexpr std::size_t kLongestGenome = 16u << 10;
inline constexpr std::size_t kLongestSource = 24u << 10;  ///< of a kernel's text that is kept
inline constexpr std::size_t kLongestRecord = 64u << 10;  ///< of one experience as JSON
inline constexpr std::size_t kMostWords = 512;            ///< operators of a task or group
inline constexpr std::size_t kMostGenes = 64;
inline constexpr std::size_t kMostParameters = 64;

// The error names the key.
Result<std::string> limited_text(const nlohmann::json& object, const char* key, std::size_t longest);
Result<std::vector<std::string>> limited_words(const nlohmann::json& object, const char* key);  ///< sorted
Result<Bindings> limited_bindings(const nlohmann::json& object, const char* key);
/// A finite number from `low` to `high`.
Result<double> limited_number(const nlohmann::json& object, const char* key, double low, double high);

}  // namespace kerf::memory
