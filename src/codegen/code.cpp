#include "codegen/code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/result.hpp"

namespace kerf::codegen {

namespace {

bool is_word(unsigned char c) { return std::isalnum(c) != 0 || c == '_'; }

void collect_words(const std::string& text, std::set<std::string>& words) {
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(static_cast<unsigned char>(text[end]))) ++end;
    if (end > i) words.insert(text.substr(i, end - i));
    i = std::max(end, i + 1);
  }
}

}  // namespace

void Code::append(const std::string& text, std::string defines) {
  const auto depth = static_cast<std::size_t>(base_indent_) + scopes_.size() - 1;
  lines_.push_back({std::string(2 * depth, ' ') + text + "\n", std::move(defines)});
}

void Code::line(const std::string& text) { append(text, ""); }

std::string Code::text() const {
  std::set<std::string> used;
  std::vector<const std::string*> kept;
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
    if (!line->defines.empty() && !used.contains(line->defines)) continue;
    collect_words(line->text, used);
    kept.push_back(&line->text);
  }
  std::string text;
  for (auto line = kept.rbegin(); line != kept.rend(); ++line) text += **line;
  return text;
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
  append(fmt::format("const {} {} = {};", type, name, expression), name);
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
  while (reserved_->contains(name) || more_.contains(name));
  return name;
}

std::string Code::recall(const std::string& key) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->find(key); found != scope->end()) return found->second;
  return {};
}

std::string Code::expression(const std::string& type, const std::string& name) const {
  for (const auto& scope : scopes_)
    for (const auto& [key, value] : scope)
      if (value == name && key.starts_with(type + " ")) return key.substr(type.size() + 1);
  return name;
}

}  // namespace kerf::codegen
