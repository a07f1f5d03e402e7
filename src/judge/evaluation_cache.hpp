#pragma once
// Evaluations kept on disk by content, so that no work is done twice.

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "model/evaluation.hpp"

namespace kerf {

/// Key of everything that decides an evaluation, as one text.
std::string evaluation_cache_key(const std::string& text);

std::optional<Evaluation> load_evaluation(const std::filesystem::path& cache, const std::string& key);
Status save_evaluation(const std::filesystem::path& cache, const std::string& key, const Evaluation& evaluation);

}  // namespace kerf
