#pragma once
// Finding skills by words: a tokeniser that understands code, and BM25.

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "skill/skill.hpp"

namespace kerf::skill {

/// Lower-case words of text or code: split at everything that is no letter or digit and where the case changes
/// ("rowSum_f32" is row, sum, f32; "HTTPServer" is http, server). Single letters are left out.
std::vector<std::string> tokens(std::string_view text);

/// BM25 with k1 = 1.5, b = 0.75 and idf = ln(1 + (N - df + 0.5) / (df + 0.5)), which is never negative.
class Bm25 {
 public:
  explicit Bm25(const std::vector<std::string>& documents);
  /// One score per document; 0 for documents without a word of the query. Repeated words of the query count once.
  std::vector<double> scores(std::string_view query) const;

 private:
  std::vector<std::map<std::string, double, std::less<>>> counts_;  // by document
  std::vector<double> lengths_;
  std::map<std::string, double, std::less<>> document_frequency_;
  double mean_length_ = 0;
};

/// Name, description, tags and body: what is searched.
std::string searched_text(const Skill& skill);

/// A skill with its score, best first.
struct Found {
  const Skill* skill = nullptr;
  double score = 0;
};

/// The `most` best of those with a score above 0. Borrows the skills.
std::vector<Found> find_skills(const std::vector<Skill>& skills, std::string_view query, std::size_t most);

/// Share of words that two skills have in common, in [0, 1]; hints count as words.
double likeness(const Skill& a, const Skill& b);

}  // namespace kerf::skill
