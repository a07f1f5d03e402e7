#include "mutate.hpp"

#include <algorithm>
#include <cctype>

namespace kerf::fuzz {
namespace {

struct Span {
  std::size_t begin = 0, size = 0;
};

/// Words, runs of blanks, and single other characters.
std::vector<Span> tokens(const std::string& text) {
  const auto kind = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return std::isalnum(byte) || c == '_' || c == '.' ? 1 : std::isspace(byte) ? 2 : 0;
  };
  std::vector<Span> result;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    while (kind(text[i]) != 0 && end < text.size() && kind(text[end]) == kind(text[i])) ++end;
    result.push_back({i, end - i});
    i = end;
  }
  return result;
}

std::size_t index(Rng& rng, std::size_t count) {
  return static_cast<std::size_t>(rng.integer(0, static_cast<std::int64_t>(count) - 1));
}

template <class T>
const T& pick(const std::vector<T>& list, Rng& rng) {
  return list[index(rng, list.size())];
}

void change_token(std::string& text, const std::string& replacement, Rng& rng) {
  const auto spans = tokens(text);
  const Span span = pick(spans, rng);
  text.replace(span.begin, span.size, replacement);
}

std::string random_token(const std::string& text, Rng& rng) {
  const auto spans = tokens(text);
  const Span span = pick(spans, rng);
  return text.substr(span.begin, span.size);
}

void change_once(std::string& text, const std::vector<std::string>& corpus, const std::vector<std::string>& dictionary,
                 Rng& rng) {
  if (text.empty()) text = pick(corpus, rng);
  if (text.empty()) return;
  const std::size_t at = index(rng, text.size());
  const std::size_t length = 1 + index(rng, std::min<std::size_t>(text.size() - at, 64));
  switch (rng.integer(0, 12)) {
    case 0: text[at] = static_cast<char>(text[at] ^ (1 << rng.integer(0, 7))); break;
    case 1: text[at] = static_cast<char>(rng.integer(0, 255)); break;
    case 2: text.resize(at); break;
    case 3: text.erase(at, length); break;
    case 4: text.insert(at, text.substr(at, length)); break;
    case 5: text.insert(at, pick(dictionary, rng)); break;
    case 6: change_token(text, pick(dictionary, rng), rng); break;
    case 7: change_token(text, random_token(text, rng), rng); break;
    case 8: change_token(text, random_token(pick(corpus, rng), rng), rng); break;
    case 9: {
      const std::string& other = pick(corpus, rng);
      if (!other.empty()) text = text.substr(0, at) + other.substr(index(rng, other.size()));
      break;
    }
    case 10: {  // deep nesting
      static const std::vector<std::string> kBrackets = {"(", "[", "{", "-", "not ", "exp(", "\"\"\""};
      const std::string& bracket = pick(kBrackets, rng);
      for (std::int64_t i = rng.integer(1, 400); i > 0; --i) text.insert(at, bracket);
      break;
    }
    case 11: {  // numbers at the edges
      static const std::vector<std::string> kNumbers = {"0",
                                                        "-1",
                                                        "1",
                                                        "9223372036854775807",
                                                        "-9223372036854775808",
                                                        "1e309",
                                                        "1e-400",
                                                        "99999999999999999999",
                                                        "0.5",
                                                        "nan",
                                                        "4294967296",
                                                        "0x10"};
      change_token(text, pick(kNumbers, rng), rng);
      break;
    }
    default: text += text.substr(at, length); break;
  }
}

}  // namespace

std::string mutate(const std::vector<std::string>& corpus, const std::vector<std::string>& dictionary, Rng& rng) {
  constexpr std::size_t kMaxText = 16 << 10;
  std::string text = pick(corpus, rng);
  for (std::int64_t changes = rng.integer(1, 4); changes > 0; --changes) change_once(text, corpus, dictionary, rng);
  if (text.size() > kMaxText) text.resize(kMaxText);
  return text;
}

}  // namespace kerf::fuzz
