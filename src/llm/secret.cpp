#include "llm/secret.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/file.hpp"
#include "base/text.hpp"

namespace kerf::llm {

Result<Secret> Secret::from_text(const std::string& text, const std::string& where) {
  std::string value(trim(text));
  if (value.empty()) return fail(Errc::invalid_input, where + " holds no key");
  if (!std::all_of(value.begin(), value.end(), [](char c) { return c > 0x20 && c < 0x7F; }))
    return fail(Errc::invalid_input,
                where + " holds something that is no key: a key is one word of visible characters");
  return Secret(std::move(value));
}

Result<Secret> Secret::from_file(const std::filesystem::path& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0)
    return fail(Errc::not_found, fmt::format("there is no key file '{}'", path.string()));
  if (S_ISREG(found.st_mode) && (found.st_mode & 077) != 0)
    return fail(Errc::invalid_input,
                fmt::format("others may read the key file '{}'; try: chmod 600 '{}'", path.string(), path.string()));
  KERF_TRY(const std::string text, read_file(path));
  return from_text(text.substr(0, text.find('\n')), fmt::format("the key file '{}'", path.string()));
}

std::string Secret::scrub(std::string text) const {
  if (value_.empty()) return text;
  for (std::size_t at = 0; (at = text.find(value_, at)) != std::string::npos;) {
    text.replace(at, value_.size(), "[key]");
    at += 5;
  }
  return text;
}

std::string Secret::scrub_answer(std::string text) const {
  constexpr std::size_t kShortestSecret = 8;
  return value_.size() < kShortestSecret ? text : scrub(std::move(text));
}

}  // namespace kerf::llm
