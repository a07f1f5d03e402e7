#include "memory/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace kerf::memory {
namespace {

using Json = nlohmann::json;

tl::unexpected<Error> not_as_expected(const char* key, const std::string& what) {
  return fail(Errc::invalid_input, fmt::format("'{}' is not {}", key, what));
}

}  // namespace

Result<std::string> limited_text(const Json& object, const char* key, std::size_t longest) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_string() ||
      object[key].get_ref<const std::string&>().size() > longest)
    return not_as_expected(key, fmt::format("a text of at most {} bytes", longest));
  return object[key].get<std::string>();
}

Result<std::vector<std::string>> limited_words(const Json& object, const char* key) {
  const std::string wanted = fmt::format("a list of at most {} words of at most {} bytes", kMostWords, kLongestWord);
  if (!object.is_object() || !object.contains(key) || !object[key].is_array() || object[key].size() > kMostWords)
    return not_as_expected(key, wanted);
  std::vector<std::string> words;
  for (const Json& word : object[key]) {
    if (!word.is_string() || word.get_ref<const std::string&>().size() > kLongestWord)
      return not_as_expected(key, wanted);
    words.push_back(word.get<std::string>());
  }
  std::sort(words.begin(), words.end());
  return words;
}

Result<Bindings> limited_bindings(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_object() || object[key].size() > kMostParameters)
    return not_as_expected(key, fmt::format("an object of at most {} numbers", kMostParameters));
  Bindings bindings;
  for (const auto& [name, value] : object[key].items()) {
    if (!value.is_number_integer() || name.size() > kLongestWord)
      return not_as_expected(key, "an object of whole numbers");
    bindings[name] = value.get<std::int64_t>();
  }
  return bindings;
}

Result<double> limited_number(const Json& object, const char* key, double low, double high) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_number()) return not_as_expected(key, "a number");
  const double value = object[key].get<double>();
  if (!std::isfinite(value) || value < low || value > high)
    return not_as_expected(key, fmt::format("a number from {} to {}", low, high));
  return value;
}

}  // namespace kerf::memory
