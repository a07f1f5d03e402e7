#include "llm/http.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "base/text.hpp"

namespace kerf::llm {

Result<Endpoint> parse_base_url(const std::string& text) {
  const auto bad = [&](const std::string& why) {
    return fail(Errc::invalid_input,
                fmt::format("the base URL '{}' {}; an example: https://api.openai.com/v1 or http://127.0.0.1:8080/v1",
                            text.find('@') == std::string::npos ? text : "...", why));
  };
  Endpoint endpoint;
  endpoint.encrypted = text.starts_with("https://");
  if (!endpoint.encrypted && !text.starts_with("http://")) return bad("does not begin with http:// or https://");
  if (!std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; }))
    return bad("holds characters that a URL cannot have");
  const std::size_t start = text.find("://") + 3;
  const std::string authority = text.substr(start, text.find('/', start) - start);
  if (authority.find('@') != std::string::npos) return bad("holds a user or a key; keys are given with --key-file");
  if (text.find_first_of("?#") != std::string::npos) return bad("has a query");
  const bool bracketed = authority.starts_with('[');
  const std::string host = authority.substr(0, bracketed ? authority.find(']') + 1 : authority.find(':'));
  if (host.empty()) return bad("names no host");
  const bool address = host.find_first_not_of("0123456789.") == std::string::npos;
  endpoint.on_this_machine = host == "localhost" || host == "[::1]" || (address && host.starts_with("127."));
  endpoint.base_url = text;
  while (endpoint.base_url.ends_with('/')) endpoint.base_url.pop_back();
  return endpoint;
}

std::optional<std::chrono::milliseconds> parse_retry_after(std::string_view text, std::int64_t now_ms) {
  text = trim(text);
  double seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error == std::errc() && end == text.data() + text.size() && seconds >= 0 && seconds < 1e9)
    return std::chrono::milliseconds(static_cast<std::int64_t>(seconds * 1000));
  std::tm date{};
  const std::string copy(text);
  const char* read = ::strptime(copy.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (read == nullptr || *read != '\0') return std::nullopt;
  const std::int64_t at_ms = static_cast<std::int64_t>(::timegm(&date)) * 1000;
  return std::chrono::milliseconds(std::max<std::int64_t>(at_ms - now_ms, 0));
}

}  // namespace kerf::llm
