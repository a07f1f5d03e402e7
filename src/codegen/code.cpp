#include "codegen/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/result.hpp"

namespace kerf::codegen {

void Code::line(const std::string& text) {
  const auto depth = static_cast<std::size_t>(base_indent_) + scopes_.size() - 1;
  text_ += std::string(2 * depth, ' ') + text + "\n";
}

void Code::open(const std::string& text) {
  line(text.empty() ? "{" : text + " {");
  scopes_.emplace_back();
}

void Code::close() {
  KERF_CHECK(scopes_.size() > 1, "a block is closed that was never opened");
  scopes_.pop_back();
  line("}");
}

std::string Code::let(const std::string& type, const std::string& expression) {
  const bool atom = std::all_of(expression.begin(), expression.end(),
                                [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  if (atom) return expression;
  const std::string key = type + " " + expression;
  if (const std::string known = recall(key); !known.empty()) return known;
  const std::string name = fresh("v");
  line(fmt::format("const {} {} = {};", type, name, expression));
  remember(key, name);
  return name;
}

std::string Code::variable(const std::string& type, const std::string& initial) {
  const std::string name = fresh("a");
  line(fmt::format("{} {} = {};", type, name, initial));
  return name;
}

std::string Code::fresh(const std::string& prefix) {
  std::string name;
  do name = fmt::format("{}{}", prefix, next_++);
  while (reserved_->contains(name));
  return name;
}

std::string Code::recall(const std::string& key) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->find(key); found != scope->end()) return found->second;
  return {};
}

}  // namespace kerf::codegen
