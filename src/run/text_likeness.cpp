#include "run/text_likeness.hpp"

#include <map>

#include "base/hash.hpp"

namespace kerf {

Result<std::vector<std::vector<float>>> TextLikeness::vectors(const std::vector<std::string>& texts) {
  std::vector<std::vector<float>> all(texts.size());
  std::map<std::string, std::vector<std::size_t>> missing;  // places by text
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::optional<std::vector<float>> kept;
    if (cache_ != nullptr)
      if (auto found = cache_->find(place_, sha256_hex(texts[i]))) kept = *std::move(found);
    if (kept && !kept->empty())
      all[i] = *std::move(kept);
    else
      missing[texts[i]].push_back(i);
  }
  if (missing.empty()) return all;
  std::vector<std::string> asked;
  for (const auto& [text, places] : missing) asked.push_back(text);
  KERF_TRY(const auto answers, model_.embed(asked));
  std::vector<std::pair<std::string, std::vector<float>>> fresh;
  for (std::size_t k = 0; k < asked.size(); ++k) {
    for (const std::size_t place : missing[asked[k]]) all[place] = answers[k];
    fresh.emplace_back(sha256_hex(asked[k]), answers[k]);
  }
  if (cache_ != nullptr) (void)cache_->keep(place_, fresh);  // asked again next time
  return all;
}

std::vector<double> TextLikeness::to(const std::string& text, const std::vector<std::string>& others) {
  if (!problem_.empty() || others.empty()) return {};
  std::vector<std::string> texts = others;
  texts.push_back(text);
  const auto found = vectors(texts);
  if (!found) {
    problem_ = found.error().message;
    return {};
  }
  std::vector<double> likeness;
  for (std::size_t i = 0; i < others.size(); ++i) likeness.push_back(llm::cosine((*found)[i], found->back()));
  return likeness;
}

memory::TextSimilarity text_similarities(const MemoryStore& store, const memory::TaskSignature& task,
                                         TextLikeness& likeness) {
  std::vector<std::string> skipped;
  const auto known = store.experiences(task.target, skipped);
  if (!known) return {};
  std::map<std::string, std::string> texts;  // by task id
  for (const memory::Experience& one : *known) texts.emplace(one.task_id, memory::signature_text(one.signature));
  std::vector<std::string> ids, others;
  for (const auto& [id, text] : texts) {
    ids.push_back(id);
    others.push_back(text);
  }
  const std::vector<double> found = likeness.to(memory::signature_text(task), others);
  memory::TextSimilarity similarities;
  for (std::size_t i = 0; i < found.size(); ++i) similarities[ids[i]] = found[i];
  return similarities;
}

}  // namespace kerf
