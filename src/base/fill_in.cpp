#include "base/fill_in.hpp"

#include "base/result.hpp"

namespace kerf {

std::string fill_in(std::string_view page, const std::map<std::string_view, std::string>& values) {
  std::string text;
  for (;;) {
    const auto begin = page.find("@@");
    if (begin == std::string_view::npos) return text + std::string(page);
    const auto end = page.find("@@", begin + 2);
    KERF_CHECK(end != std::string_view::npos, "a name in a template has no end");
    const auto value = values.find(page.substr(begin + 2, end - begin - 2));
    KERF_CHECK(value != values.end(), "a template names a value that does not exist");
    text += page.substr(0, begin);
    text += value->second;
    page.remove_prefix(end + 2);
  }
}

}  // namespace kerf
