#include "export/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <set>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "base/version.hpp"
#include "codegen/dialects/dialects.hpp"
#include "export/domain.hpp"

namespace kerf::exporting {

/// Generated: the files of templates/.
std::span<const std::pair<std::string_view, std::string_view>> embedded_files();

namespace {

Result<std::string> template_text(std::string_view name) {
  for (const auto& [path, text] : embedded_files())
    if (path == name) return std::string(text);
  return fail(Errc::not_found, fmt::format("there is no template '{}'", name));
}

/// "const float* x, float* y".
std::string buffer_parameters(const Task& task) {
  std::vector<std::string> parts;
  for (const auto& input : task.inputs) parts.push_back(fmt::format("const {}* {}", c_type(input.dtype), input.name));
  for (const auto& output : task.outputs) parts.push_back(fmt::format("{}* {}", c_type(output.dtype), output.name));
  return join(parts, ", ");
}

/// "    x f32[rows, cols], input": one line per buffer.
std::string buffer_table(const Task& task) {
  std::string text;
  const auto add = [&](const ir::TensorType& tensor, const char* role) {
    text += fmt::format("    {} {}{}, {}\n", tensor.name, dtype_name(tensor.dtype), to_string(tensor.shape), role);
  };
  for (const auto& input : task.inputs) add(input, "input");
  for (const auto& output : task.outputs) add(output, "output");
  return text;
}

/// "     wide: rows = 96, cols = 1024": one line per certified shape set.
std::string certified_sets(const Winner& winner) {
  std::string text;
  for (const auto& instance : instances_of(winner)) {
    std::vector<std::string> values;
    for (const auto& name : symbol_names(winner.task))
      values.push_back(fmt::format("{} = {}", name, instance.symbols.at(name)));
    text += fmt::format("     {}: {}\n", instance.name, join(values, ", "));
  }
  return text;
}

/// The winner's origin, identities and licence as lines of a comment.
std::string banner(const Winner& winner) {
  std::string lines(trim(winner.origin));
  lines +=
      fmt::format("\n\nTask id: {}\nKernel: {}, id {}\nExported by Kerf {}{}.\n", winner.task.id, winner.candidate.name,
                  winner.candidate.id, kKerfVersion, winner.date.empty() ? "" : " on " + winner.date);
  lines += "SPDX-License-Identifier: Apache-2.0 (what Kerf wrote; a kernel of your own stays yours)";
  std::string safe;  // a comment's end in it would end ours
  for (const char c : lines) safe += c == '/' && safe.ends_with('*') ? std::string(" /") : std::string(1, c);
  std::string text;
  for (const auto& line : split(safe, '\n')) text += line.empty() ? "\n" : fmt::format("   {}\n", line);
  return text;
}

}  // namespace

std::string template_file(std::string_view name) {
  const auto text = template_text(name);
  KERF_CHECK(text.has_value(), "a template is missing");
  return *text;
}

std::string filled(std::string_view name, const templates::Record& values) {
  const auto text = template_text(name);
  KERF_CHECK(text.has_value(), "a template is missing");
  return templates::fill(name, *text, values, template_text);
}

std::string filled(std::string_view name, std::initializer_list<std::pair<std::string_view, std::string>> values) {
  templates::Record all;
  for (const auto& [key, text] : values) all[std::string(key)] = text;
  return filled(name, all);
}

templates::Record common_values(const Winner& winner) {
  const Task& task = winner.task;
  const std::string name = function_name(winner);
  const ShapeText shape = shape_text(winner);
  const auto first = [](const std::string& text) { return text.empty() ? "" : text + ", "; };
  const auto more = [](const std::string& text) { return text.empty() ? "" : ", " + text; };
  templates::List sets;
  for (const auto& instance : instances_of(winner)) {
    templates::Record set;
    set["name"] = instance.name;
    set["id"] = instance.id;
    set["condition"] = same_shape(instance);
    sets.emplace_back(std::move(set));
  }
  templates::Record values;
  values["NAME"] = name;
  values["UPPER"] = upper(name);
  values["BANNER"] = banner(winner);
  values["BUFFER_TABLE"] = buffer_table(task);
  values["BUFFER_COUNT"] = std::to_string(task.inputs.size() + task.outputs.size());
  values["CERTIFIED_SETS"] = certified_sets(winner);
  values["SETS"] = std::move(sets);
  values["HAS_FALLBACK"] = task.graph ? "1" : "0";
  values["OTHERS"] = task.graph ? "Other shapes run a plain kernel: right, but slow." : "Other shapes are refused.";
  values["PARAMETERS"] = listed(shape.parameter, buffer_parameters(task));
  values["SHAPE"] = shape.definition;
  values["SHAPE_PARAMETER"] = shape.parameter.empty() ? "void" : shape.parameter;
  values["SHAPE_FIRST"] = first(shape.parameter);
  values["SHAPE_MORE"] = more(shape.parameter);
  values["PASS"] = shape.argument;
  values["PASS_FIRST"] = first(shape.argument);
  values["PASS_MORE"] = more(shape.argument);
  values["UNPACK"] = shape.unpack;
  values["REFUSALS"] = refusal_statements(task);
  return values;
}

Bindings Instance::constants() const {
  Bindings all = symbols;
  all.insert(tunables.begin(), tunables.end());
  return all;
}

std::vector<Instance> instances_of(const Winner& winner) {
  std::vector<Instance> instances;
  std::vector<ShapeSet> sets = shapes_for(winner.task, winner.target);
  sets.insert(sets.end(), winner.more_shapes.begin(), winner.more_shapes.end());
  for (const ShapeSet& set : sets) {
    const auto own = winner.by_shape.find(set.name);
    instances.push_back(
        {set.name, identifier(set.name), set.symbols, own == winner.by_shape.end() ? winner.tunables : own->second});
  }
  return instances;
}

std::vector<std::string> symbol_names(const Task& task) {
  std::vector<std::string> names;
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors)
      for (const Dim& extent : tensor.shape) extent.collect_symbols(names);
  for (const ShapeSet& set : task.shapes)  // those that only the expression uses
    for (const auto& [name, value] : set.symbols)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

std::string c_type(DType dtype) { return codegen::memory_type(codegen::dialects::cpp, dtype); }

std::string identifier(std::string_view text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

std::string upper(std::string_view text) {
  std::string name(text);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

std::string symbol_parameters(const Task& task) {
  std::vector<std::string> parts;
  for (const auto& name : symbol_names(task)) parts.push_back(fmt::format("long long {}", name));
  return join(parts, ", ");
}

std::string symbol_arguments(const Task& task) { return join(symbol_names(task), ", "); }

ShapeText shape_text(const Winner& winner) {
  const auto names = symbol_names(winner.task);
  if (names.empty()) return {};
  const std::string type = function_name(winner) + "_shape";
  std::vector<std::string> members;
  std::string unpack;
  for (const auto& name : names) {
    members.push_back("kerf_shape." + name);
    unpack += fmt::format("  const long long {0} = kerf_shape.{0};\n", name);
  }
  for (const auto& name : names) unpack += fmt::format("  (void){};\n", name);
  return {fmt::format("/* A shape: the extents that the buffers' shapes above name. */\n"
                      "typedef struct {0} {{\n  long long {1};\n}} {0};\n",
                      type, join(names, ", ")),
          type + " kerf_shape", "kerf_shape", join(members, ", "), unpack};
}

std::string listed(const std::string& a, const std::string& b) { return a.empty() || b.empty() ? a + b : a + ", " + b; }

std::string shape_value(const Winner& winner, const Instance& instance) {
  std::vector<std::string> values;
  for (const auto& name : symbol_names(winner.task)) values.push_back(fmt::format("{}LL", instance.symbols.at(name)));
  return values.empty() ? "" : fmt::format("{}_shape{{{}}}", function_name(winner), join(values, ", "));
}

std::string same_shape(const Instance& instance) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : instance.symbols) parts.push_back(fmt::format("{} == {}", name, value));
  return parts.empty() ? "1" : join(parts, " && ");
}

std::string string_elements(std::string_view text, std::string_view indent) {
  std::string elements;
  for (const auto& line : split(text, '\n')) elements += string_literal(std::string(line) + "\n", indent) + ",\n";
  return elements;
}

std::string without_warnings(std::string_view code) {
  return filled("without_warnings.in", {{"CODE", std::string(code)}});
}

std::string string_literal(std::string_view text, std::string_view indent) {
  std::string literal;
  bool open = false;
  for (const char c : text) {
    if (!open) literal += fmt::format("{}{}\"", literal.empty() ? "" : "\n", indent);
    open = true;
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      literal += "\\n\"";
      open = false;
    } else if (c == '"' || c == '\\') {
      literal += fmt::format("\\{}", c);
    } else if (c == '?') {
      literal += "\\?";  // no trigraphs
    } else if (byte < 32 || byte >= 127) {
      literal += fmt::format("\\{:03o}", byte);
    } else {
      literal += c;
    }
  }
  if (open) literal += '"';
  return literal.empty() ? std::string(indent) + "\"\"" : literal;
}

std::string constant_definitions(const Bindings& constants) {
  std::string text;
  for (const auto& [name, value] : constants) {
    const bool fits = value >= std::numeric_limits<int>::min() && value <= std::numeric_limits<int>::max();
    text += fmt::format("[[maybe_unused]] static constexpr {} {} = {}{};\n", fits ? "int" : "long long", name, value,
                        fits ? "" : "LL");
  }
  return text;
}

std::string bytes_expression(const ir::TensorType& tensor) {
  return fmt::format("(size_t)({}) * {}", element_count(tensor.shape).to_c(), dtype_size(tensor.dtype));
}

std::string scratch_sizes(const std::vector<ir::TensorType>& scratch) {
  std::string text;
  for (const auto& tensor : scratch) text += bytes_expression(tensor) + ", ";
  return text + "0";
}

std::string undone(const std::vector<std::string>& macros) {
  std::string text;
  for (const auto& macro : macros) text += fmt::format("#undef {}\n", macro);
  return text;
}

Repeatable make_repeatable(std::string_view source) {
  Repeatable result;
  for (const auto& line : split(source, '\n')) {
    std::string_view rest = trim(line);
    if (!rest.starts_with('#')) {
      result.code += line + "\n";
      continue;
    }
    rest = trim(rest.substr(1));
    if (rest.starts_with("include")) {
      const std::string what(trim(rest.substr(7)));
      if (std::find(result.includes.begin(), result.includes.end(), what) == result.includes.end())
        result.includes.push_back(what);
      result.code += "\n";  // lines keep their numbers
      continue;
    }
    if (rest == "pragma once") continue;
    if (rest.starts_with("define")) {
      rest = trim(rest.substr(6));
      const std::string name(rest.substr(0, std::find_if(rest.begin(), rest.end(), [](char c) {
                                              return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_';
                                            }) - rest.begin()));
      if (std::find(result.macros.begin(), result.macros.end(), name) == result.macros.end())
        result.macros.push_back(name);
    }
    result.code += line + "\n";
  }
  return result;
}

}  // namespace kerf::exporting
