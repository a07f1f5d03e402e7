#include <fmt/format.h>

#include <cctype>

#include "base/hash.hpp"
#include "task/reader.hpp"

namespace kerf::task {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }

/// The expression without comments and without spaces that separate nothing; newlines and ';' are the same.
std::string canonical_expression(std::string_view text) {
  std::string out;
  bool gap = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '#') {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
      continue;
    }
    if (c == ' ' || c == '\t' || c == '\r') {
      gap = true;
      continue;
    }
    if (c == '\n') c = ';';
    if (c == ';' && (out.empty() || out.back() == ';')) continue;
    if (gap && !out.empty() && is_word(out.back()) && is_word(c)) out += ' ';
    gap = false;
    out += c;
  }
  while (!out.empty() && out.back() == ';') out.pop_back();
  return out;
}

/// Fields with their length, so that no two tasks have the same text.
class Canonical {
 public:
  void add(std::string_view field, std::string_view value) {
    text_ += fmt::format("{}:{}:{}\n", field, value.size(), value);
  }
  void add(std::string_view field, double value) { add(field, fmt::format("{}", value)); }
  void add(const std::vector<ir::TensorType>& tensors, std::string_view field) {
    for (const auto& tensor : tensors)
      add(field, fmt::format("{} {}{}", tensor.name, dtype_name(tensor.dtype), to_string(tensor.shape)));
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_ = "kerf task 1\n";
};

}  // namespace

std::string task_id(const Task& task, std::string_view expression) {
  Canonical canonical;
  canonical.add("name", task.name);
  canonical.add("precision", precision_name(task.precision));
  canonical.add("special_values", task.special_values ? "true" : "false");
  if (task.require_deterministic) canonical.add("require", "deterministic");
  if (task.require_batch_invariant) canonical.add("require", "batch_invariant");
  canonical.add(task.inputs, "input");
  canonical.add(task.outputs, "output");
  for (const auto& set : task.shapes) {
    canonical.add("shape", set.name);
    for (const auto& [symbol, value] : set.symbols) canonical.add("symbol", fmt::format("{}={}", symbol, value));
    canonical.add("weight", set.weight);
    for (const auto& target : set.targets) canonical.add("target", target);
  }
  for (std::size_t i = 0; i < task.distributions.size(); ++i) {
    if (!task.distributions[i]) continue;
    const auto& given = *task.distributions[i];
    canonical.add("distribution", fmt::format("{} {} {} {}", i, static_cast<int>(given.kind), given.a,
                                              given.b_is_dim ? given.b_dim.to_string() : fmt::format("{}", given.b)));
    if (!(given.root == Dim(1))) canonical.add("root", given.root.to_string());
  }
  canonical.add("expression", canonical_expression(expression));
  if (task.cpp) canonical.add("cpp", task.cpp->source);
  for (const auto& baseline : task.baselines) {
    canonical.add("baseline", baseline.name);
    canonical.add("target", baseline.target);
    canonical.add("source", baseline.source);
  }
  return sha256_hex(canonical.text());
}

}  // namespace kerf::task
