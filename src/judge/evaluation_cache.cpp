#include "judge/evaluation_cache.hpp"

#include "base/file.hpp"
#include "base/hash.hpp"

namespace kerf {
namespace {

std::filesystem::path file_for(const std::filesystem::path& cache, const std::string& key) {
  return cache / "evaluations" / key.substr(0, 2) / (key + ".json");
}

}  // namespace

std::string evaluation_cache_key(const std::string& text) { return sha256_hex(text); }

std::optional<Evaluation> load_evaluation(const std::filesystem::path& cache, const std::string& key) {
  const auto text = read_file(file_for(cache, key));
  if (!text) return std::nullopt;
  auto evaluation = evaluation_from_json(*text);
  if (!evaluation) return std::nullopt;  // another schema or damaged: judged again
  return *std::move(evaluation);
}

Status save_evaluation(const std::filesystem::path& cache, const std::string& key, const Evaluation& evaluation) {
  return write_file_atomic(file_for(cache, key), to_json(evaluation) + "\n");
}

}  // namespace kerf
