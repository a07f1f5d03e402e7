#include "skill/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "base/text.hpp"

namespace kerf::skill {
namespace {

constexpr double kK1 = 1.5, kB = 0.75;

enum class Kind { other, lower, upper, digit };

Kind kind_of(char c) {
  if (c >= 'a' && c <= 'z') return Kind::lower;
  if (c >= 'A' && c <= 'Z') return Kind::upper;
  if (c >= '0' && c <= '9') return Kind::digit;
  return Kind::other;
}

/// A word ends before `at`: "rowSum" before S, "HTTPServer" before S (an upper-case letter that a lower one follows).
bool case_changes(std::string_view text, std::size_t at) {
  const Kind before = kind_of(text[at - 1]), here = kind_of(text[at]);
  if (here != Kind::upper) return false;
  if (before == Kind::lower || before == Kind::digit) return true;
  return before == Kind::upper && at + 1 < text.size() && kind_of(text[at + 1]) == Kind::lower;
}

std::set<std::string> word_set(const Skill& skill) {
  std::set<std::string> words;
  for (std::string& word : tokens(skill_text(skill))) words.insert(std::move(word));
  for (const Hint& hint : skill.hints) {
    words.insert(fmt::format("hint {}/{}", hint.family, hint.variant));
    for (const auto& [name, value] : hint.parameters)
      words.insert(fmt::format("hint {}/{} {}={}", hint.family, hint.variant, name, value));
  }
  return words;
}

}  // namespace

std::vector<std::string> tokens(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (word.size() > 1) words.push_back(word);
    word.clear();
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (kind_of(text[i]) == Kind::other) {
      end_word();
      continue;
    }
    if (!word.empty() && case_changes(text, i)) end_word();
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(text[i])));
  }
  end_word();
  return words;
}

Bm25::Bm25(const std::vector<std::string>& documents) {
  for (const std::string& document : documents) {
    auto& counts = counts_.emplace_back();
    const auto words = tokens(document);
    for (const std::string& word : words) ++counts[word];
    for (const auto& [word, count] : counts) ++document_frequency_[word];
    lengths_.push_back(static_cast<double>(words.size()));
    mean_length_ += lengths_.back() / static_cast<double>(documents.size());
  }
}

std::vector<double> Bm25::scores(std::string_view query) const {
  std::vector<double> scores(counts_.size(), 0);
  const auto words = tokens(query);
  const auto documents = static_cast<double>(counts_.size());
  for (const std::string& word : std::set<std::string>(words.begin(), words.end())) {
    const auto known = document_frequency_.find(word);
    if (known == document_frequency_.end()) continue;
    const double idf = std::log(1 + (documents - known->second + 0.5) / (known->second + 0.5));
    for (std::size_t d = 0; d < counts_.size(); ++d) {
      const auto found = counts_[d].find(word);
      if (found == counts_[d].end()) continue;
      const double norm = 1 - kB + kB * lengths_[d] / std::max(mean_length_, 1e-9);
      scores[d] += idf * found->second * (kK1 + 1) / (found->second + kK1 * norm);
    }
  }
  return scores;
}

std::string searched_text(const Skill& skill) {
  return fmt::format("{} {} {} {} {} {} {}", skill.name, skill.description, join(skill.tags, " "), skill.motivation,
                     skill.key_idea, skill.example, join(skill.scope.families, " "));
}

std::vector<Found> find_skills(const std::vector<Skill>& skills, std::string_view query, std::size_t most) {
  std::vector<std::string> documents;
  for (const Skill& skill : skills) documents.push_back(searched_text(skill));
  const auto scores = Bm25(documents).scores(query);
  std::vector<Found> found;
  for (std::size_t i = 0; i < skills.size(); ++i)
    if (scores[i] > 0) found.push_back({&skills[i], scores[i]});
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) { return a.score > b.score; });
  if (found.size() > most) found.resize(most);
  return found;
}

double likeness(const Skill& a, const Skill& b) {
  const auto left = word_set(a), right = word_set(b);
  std::vector<std::string> common;
  std::set_intersection(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(common));
  const auto all = left.size() + right.size() - common.size();
  return all == 0 ? 1 : static_cast<double>(common.size()) / static_cast<double>(all);
}

}  // namespace kerf::skill
