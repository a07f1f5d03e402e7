#include "propose/synth/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "codegen/helpers.hpp"
#include "propose/synth/calls.hpp"

namespace kerf::synth {
namespace {

using codegen::Buffer;
using codegen::BufferPlan;
using codegen::BufferRole;

using Functions = std::vector<std::set<std::string>>;

/// A section with what it is filled in with. Groups that are computed alike share one.
struct Written {
  const Section* section = nullptr;
  const Functions* functions = nullptr;
  const Choice* choice = nullptr;
  std::string title, prefix;
  std::vector<int> buffers;  ///< of the plan, by their numbers in the section
};

/// "row/block: computes y (softmax, mul)": what is stored, and the functions of the task it comes from.
std::string title_of(const BufferPlan& plan, const Group& group, const Variant& variant) {
  constexpr std::size_t kMost = 6;
  std::vector<std::string> functions;
  for (const ir::NodeId id : group.members) {
    const std::string& origin = plan.graph[id].origin;
    std::string name = origin.substr(0, origin.find('#'));
    if (!name.empty() && std::find(functions.begin(), functions.end(), name) == functions.end())
      functions.push_back(std::move(name));
  }
  if (functions.size() > kMost) {
    functions.resize(kMost);
    functions.emplace_back("...");
  }
  const std::string& stored = plan.buffers[static_cast<std::size_t>(group.buffer)].name;
  const std::string purpose = functions.empty() ? stored : fmt::format("{} ({})", stored, join(functions, ", "));
  return fmt::format("{}/{}: computes {}", variant.family, variant.name, purpose);
}

/// With the chosen value first.
std::string tune_line(const Tunable& tunable, const Choice& choice) {
  std::int64_t chosen = tunable.values.front();
  if (const auto found = choice.parameters.find(tunable.name); found != choice.parameters.end()) chosen = found->second;
  std::vector<std::string> values{std::to_string(chosen)};
  for (const auto value : tunable.values)
    if (value != chosen) values.push_back(std::to_string(value));
  return fmt::format("{}_{} = {{{}}}", kCapitalMark, tunable.name, join(values, ", "));
}

/// The launches of a group that `written` computes, with the group's own buffers.
std::vector<std::string> launches_of(const Written& written, const std::vector<int>& buffers, const BufferPlan& plan,
                                     bool host_entry) {
  const Section& section = *written.section;
  std::vector<std::string> lines;
  for (std::size_t l = 0; l < section.launches.size(); ++l) {
    std::vector<std::string> names;
    for (const Argument& argument : section.arguments[l]) {
      if (argument.buffer < 0) {
        names.push_back(filled(argument.scratch, written.prefix, {}));
        continue;
      }
      const auto buffer = static_cast<std::size_t>(buffers[static_cast<std::size_t>(argument.buffer)]);
      names.push_back(host_entry ? place_holder(buffer) : plan.buffers[buffer].name);
    }
    const std::string launch = filled(section.launches[l], written.prefix, {});
    lines.push_back(with_identifier(launch, kArgumentsMark, join(names, ", ")));
  }
  return lines;
}

/// A prefix for groups that no name of the task starts with.
std::string free_prefix(const OutputLanguage& language) {
  for (std::string base : {"g", "kg", "kernel_g"}) {
    const bool clash = std::any_of(language.taken.begin(), language.taken.end(), [&](std::string name) {
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      return name.starts_with(base) && name.size() > base.size() &&
             std::isdigit(static_cast<unsigned char>(name[base.size()])) != 0;
    });
    if (!clash) return base;
  }
  return "synthesised_g";
}

std::string header(const BufferPlan& plan, const std::vector<Written>& sections,
                   const std::vector<std::string>& launches, const OutputLanguage& language,
                   const std::string& target) {
  std::string text = fmt::format("/* kerf\ntarget:  {}\n", target);
  const auto add = [&](std::string_view key, const std::string& line, const Written& written) {
    text += fmt::format("{} {}\n", key, filled(line, written.prefix, {}));
  };
  for (const Written& written : sections) {
    for (const Tunable& tunable : written.choice->variant->tunables)
      add("tune:   ", tune_line(tunable, *written.choice), written);
    for (const auto& line : written.section->requirements) add("require:", line, written);
  }
  for (const Buffer& buffer : plan.buffers)
    if (buffer.role == BufferRole::scratch)
      text += fmt::format("scratch: {} = {}{}\n", buffer.name, dtype_name(buffer.dtype), to_string(buffer.shape));
  for (const Written& written : sections)
    for (const auto& line : written.section->scratch) add("scratch:", line, written);
  if (!language.dialect.host_entry)
    for (const auto& line : launches) text += "launch:  " + line + "\n";
  return text + "*/\n";
}

/// With place holders for the plan's buffers.
std::string entry(const BufferPlan& plan, const std::vector<Written>& sections,
                  const std::vector<std::string>& launches, const OutputLanguage& language) {
  std::vector<std::string> parameters;
  for (std::size_t b = 0; b < plan.buffers.size(); ++b)
    parameters.push_back(fmt::format("[[maybe_unused]] {}{}* {}",
                                     plan.buffers[b].role == BufferRole::input ? "const " : "",
                                     codegen::memory_type(language.dialect, plan.buffers[b].dtype), place_holder(b)));
  for (const Written& written : sections)
    for (const auto& [type, name] : written.section->scratch_parameters)
      parameters.push_back(
          fmt::format("{}* {}", codegen::memory_type(language.dialect, type), filled(name, written.prefix, {})));
  std::string text = fmt::format("extern \"C\" void kerf_kernel({}) {{\n", join(parameters, ", "));
  for (const auto& line : launches) text += fmt::format("  {};\n", line);
  return text + "}\n";
}

/// Shape symbols as 64-bit values. A symbol that is also the name of something in a function that uses its value is
/// read here, before anything can hide it.
std::string extents(const std::set<std::string>& symbols, const BufferPlan& plan,
                    const std::vector<const Functions*>& code) {
  std::vector<std::string> hidden;
  std::string text;
  for (const auto& symbol : symbols) {
    const std::string& value = plan.symbols.at(symbol);
    const bool hides = std::any_of(code.begin(), code.end(), [&](const Functions* functions) {
      return std::any_of(functions->begin(), functions->end(), [&](const std::set<std::string>& words) {
        return words.contains(symbol) && words.contains(value);
      });
    });
    if (hides) hidden.push_back(fmt::format("kerf_symbol_{0} = {0}", symbol));
    text += fmt::format("#define {} ((kerf_index){}{})\n", value, hides ? "kerf_symbol_" : "", symbol);
  }
  return hidden.empty() ? text : fmt::format("enum {{ {} }};\n{}", join(hidden, ", "), text);
}

/// What the code calls the plan's buffers: as the task does, as far as that is the name of nothing else in a function
/// that takes the buffer. `entry` has all buffers.
std::vector<std::string> buffer_names(const BufferPlan& plan, const std::vector<Written>& sections,
                                      const Functions& entry, const std::vector<ShapeSet>& shapes) {
  std::vector<std::vector<const std::set<std::string>*>> users(plan.buffers.size());  // functions that take a buffer
  for (const Written& written : sections)
    for (const auto& words : *written.functions)
      for (std::size_t b = 0; b < written.buffers.size(); ++b)
        if (words.contains(place_holder(b))) users[static_cast<std::size_t>(written.buffers[b])].push_back(&words);
  std::set<std::string> taken;  // symbols are constants in the code, whether or not it uses them
  for (const ShapeSet& shape : shapes)
    for (const auto& [symbol, value] : shape.symbols) taken.insert(symbol);
  for (const auto& words : entry) taken.insert(words.begin(), words.end());
  std::vector<std::string> names;
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    const Buffer& buffer = plan.buffers[b];
    const auto clashes = [&](const std::string& name) {
      return taken.contains(name) ||
             std::any_of(users[b].begin(), users[b].end(), [&](const auto* words) { return words->contains(name); });
    };
    const std::string_view ending = buffer.role == BufferRole::input    ? "_in"
                                    : buffer.role == BufferRole::output ? "_out"
                                                                        : "_scratch";
    std::string chosen = buffer.name;
    const bool ours = chosen.starts_with("kerf_") || chosen.starts_with("KERF_");  // names of the dialect layer
    if (ours) chosen = "task_" + chosen;
    if (clashes(chosen)) chosen += ending;
    while (clashes(chosen)) chosen += "_";
    taken.insert(chosen);
    names.push_back(std::move(chosen));
  }
  return names;
}

std::vector<std::string> names_in(const Written& written, const std::vector<std::string>& names) {
  std::vector<std::string> own;
  for (const int buffer : written.buffers) own.push_back(names[static_cast<std::size_t>(buffer)]);
  return own;
}

Result<std::string> layer_of(const OutputLanguage& language) {
  std::string text;
  for (const std::string& file : language.headers) {
    KERF_TRY(const std::string_view layer, built_in_file(file));
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", trim(layer));
  }
  return text;
}

/// An expression of the manifest with the variant's values, numbers and parameters in it.
std::optional<Dim> filled_in(const std::string& text, const Variant& variant, const TemplateValues& values,
                             const Bindings& parameters) {
  const auto lookup = [&](std::string_view name) -> std::optional<templates::Value> {
    for (const Bindings* numbers : {&parameters, &variant.constants})
      if (const auto found = numbers->find(name); found != numbers->end()) return std::to_string(found->second);
    if (const auto found = values.extents.find(std::string(name)); found != values.extents.end())
      return bracketed(found->second);
    if (const auto found = values.text.find(std::string(name)); found != values.text.end()) return found->second;
    return {};
  };
  const auto plain = templates::substitute(variant.file, text, {lookup, {}, true});
  if (!plain) return {};
  auto expression = parse_dim(*plain);
  if (!expression) return {};
  return *std::move(expression);
}

/// A condition that names something unknown holds nowhere.
bool all_hold(const std::vector<std::string>& conditions, const Variant& variant, const TemplateValues& values,
              const Bindings& parameters, const std::vector<ShapeSet>& shapes) {
  for (const auto& text : conditions) {
    const auto condition = filled_in(text, variant, values, parameters);
    if (!condition) return false;
    for (const ShapeSet& shape : shapes) {
      const auto value = condition->evaluate(shape.symbols);
      if (!value || *value == 0) return false;
    }
  }
  return true;
}

}  // namespace

bool allowed(const Variant& variant, const TemplateValues& values, const Bindings& parameters,
             const std::vector<ShapeSet>& shapes) {
  return all_hold(variant.requirements, variant, values, parameters, shapes);
}

bool preferred(const Variant& variant, const TemplateValues& values, const Bindings& parameters,
               const std::vector<ShapeSet>& shapes) {
  if (variant.preferences.empty()) return true;
  for (const std::string& text : variant.preferences)
    KERF_CHECK(filled_in(text, variant, values, parameters), text.c_str());  // else it would be no preference, silently
  std::vector<ShapeSet> timed;
  std::copy_if(shapes.begin(), shapes.end(), std::back_inserter(timed), [](const ShapeSet& s) { return s.weight > 0; });
  return all_hold(variant.preferences, variant, values, parameters, timed);
}

double work_of(const Variant& variant, const TemplateValues& values, const Bindings& parameters,
               const Bindings& shape) {
  double factor = variant.work;
  if (variant.padded.empty()) return factor;
  double terms[2] = {1, 1};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto expression = filled_in(variant.padded[i], variant, values, parameters);
    const std::int64_t value = expression ? expression->evaluate(shape).value_or(0) : 0;
    if (value < 1) return factor;
    terms[i] = static_cast<double>(value);
  }
  return factor * terms[0] / terms[1];
}

Renderer::Renderer(const TargetContext& context, const OutputLanguage& language)
    : context_(context), language_(language) {}

Result<Renderer::Part*> Renderer::part(const GroupView& view, const Choice& choice) {
  std::vector<std::string> names;
  for (const Buffer& buffer : view.plan.buffers) names.push_back(buffer.name);
  const auto key = std::tuple{choice.structure, choice.variant, std::move(names)};
  if (const auto known = parts_.find(key); known != parts_.end()) return &known->second;
  KERF_TRY(Section section, write_section(view, *choice.family, *choice.variant, context_, language_));
  return &parts_.emplace(key, Part{std::move(section), false, {}, {}}).first->second;
}

Result<std::string> Renderer::used_layer(const std::set<std::string>& words) {
  if (!layer_) {
    KERF_TRY(const std::string text, layer_of(language_));
    layer_.emplace(text);
  }
  return layer_->used_by(words);
}

Result<Candidate> Renderer::render(const Partition& partition, const std::vector<Choice>& choices,
                                   const std::string& name) {
  KERF_CHECK(choices.size() == partition.groups.size(), "one choice per group");
  const std::string base = free_prefix(language_);
  const BufferPlan& plan = partition.plan;
  std::vector<Written> sections;
  std::vector<std::string> launches;
  std::set<std::string> helpers, symbols, words;
  for (std::size_t g = 0; g < choices.size(); ++g) {
    const GroupView view = cut_out(plan, partition.groups[g]);
    auto written = std::find_if(sections.begin(), sections.end(),
                                [&](const Written& other) { return choices[g].same_kernels(*other.choice); });
    if (written == sections.end()) {
      KERF_TRY(Part* const made, part(view, choices[g]));
      if (!made->read) {
        made->functions = identifiers_by_function(made->section.code);
        made->words = words_of(made->section.code);
        made->read = true;
      }
      const codegen::Uses& uses = made->section.uses;
      helpers.insert(uses.helpers.begin(), uses.helpers.end());
      symbols.insert(uses.symbols.begin(), uses.symbols.end());
      words.insert(made->words.begin(), made->words.end());
      sections.push_back({&made->section, &made->functions, &choices[g],
                          title_of(plan, partition.groups[g], *choices[g].variant), fmt::format("{}{}", base, g),
                          view.buffers});
      written = std::prev(sections.end());
    }
    for (std::string& line : launches_of(*written, view.buffers, plan, language_.dialect.host_entry))
      launches.push_back(std::move(line));
  }
  const std::string helping = codegen::helper_definitions(helpers, language_.dialect, language_.options);
  const std::string called = language_.dialect.host_entry ? "\n" + entry(plan, sections, launches, language_) : "";
  const Functions in_helpers = identifiers_by_function(helping), in_entry = identifiers_by_function(called);
  std::vector<const Functions*> functions{&in_helpers, &in_entry};
  for (const Written& written : sections) functions.push_back(&*written.functions);
  const std::string sizes = extents(symbols, plan, functions);
  words.merge(words_of(sizes + helping + called));
  const std::vector<std::string> names = buffer_names(plan, sections, in_entry, context_.shapes);
  std::string code = sizes + helping;
  for (const Written& written : sections)
    code += fmt::format("\n// ---- {}\n{}", written.title,
                        filled(written.section->code, written.prefix, names_in(written, names)));
  code = wrapped(code + filled(called, "", names));
  std::string text = header(plan, sections, launches, language_, context_.target);
  text += language_.dialect.prologue;
  if (language_.options.compute == DType::f64 ||
      std::any_of(plan.buffers.begin(), plan.buffers.end(), [](const Buffer& b) { return b.dtype == DType::f64; }))
    text += language_.dialect.f64_prologue;
  KERF_TRY(const std::string layer, used_layer(words));
  text += fmt::format("\n// ---- dialect\n{}\n\n// ---- task\n", trim(layer));
  return parse_candidate(name, text + code);
}

Status Renderer::check_group(const BufferPlan& plan, const Group& group, const Choice& choice) {
  const GroupView view = cut_out(plan, group);
  KERF_TRY(const Section section, outline_section(view, *choice.family, *choice.variant, context_, language_));
  std::vector<int> own;
  for (std::size_t b = 0; b < view.plan.buffers.size(); ++b) own.push_back(static_cast<int>(b));
  const Written alone{&section, nullptr, &choice, "", free_prefix(language_) + "0", own};
  const auto launches = launches_of(alone, own, view.plan, language_.dialect.host_entry);
  KERF_TRY(const Candidate candidate,
           parse_candidate("group", header(view.plan, {alone}, launches, language_, context_.target)));
  return {};
}

}  // namespace kerf::synth
