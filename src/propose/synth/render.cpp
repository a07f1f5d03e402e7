#include "propose/synth/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "codegen/helpers.hpp"
#include "propose/synth/calls.hpp"
#include "propose/synth/trim.hpp"

namespace kerf::synth {
namespace {

using codegen::Buffer;
using codegen::BufferRole;

/// The text of one group, ready to be put into the file.
struct Section {
  std::string title, code;
  std::vector<std::string> tunables, requirements, scratch, launches;  ///< header lines
  std::vector<std::pair<DType, std::string>> scratch_parameters;       ///< type, name; for the C++ entry point
  codegen::Uses uses;
};

/// What a buffer is called until its name in the code is chosen.
std::string place_holder(std::size_t buffer) { return fmt::format("kerf_buffer_{}__", buffer); }

std::string declared(const codegen::DialectTraits& dialect, DType type, const std::string& name, bool read_only) {
  return fmt::format("{}{}{}* KERF_RESTRICT {}", dialect.pointer_prefix, read_only ? "const " : "",
                     codegen::memory_type(dialect, type), name);
}

/// Safe to multiply with; a plain name or number stays as it is.
std::string bracketed(const std::string& text) {
  const bool atom =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return atom ? text : "(" + text + ")";
}

/// "$partial = f32[$ROWS, 4]" -> name and type text.
Result<std::pair<std::string, std::string>> scratch_parts(const Variant& variant, const std::string& text) {
  const std::size_t equal = text.find('=');
  if (equal == std::string::npos || text[0] != '$')
    return fail(Errc::invalid_input, fmt::format("{}: scratch must read '$name = f32[...]'", variant.file));
  return std::pair{std::string(trim(text.substr(1, equal - 1))), std::string(trim(text.substr(equal + 1)))};
}

class GroupRenderer {
 public:
  GroupRenderer(const Partition& partition, std::size_t number, const Choice& choice, const TargetContext& context,
                const OutputLanguage& language, const std::string& base)
      : plan_(inside(partition.plan, partition.groups[number])),
        group_(partition.groups[number]),
        choice_(choice),
        context_(context),
        language_(language),
        prefix_(fmt::format("{}{}", base, number)),
        hooks_(plan_, language_.dialect, language_.options, prefix_) {
    std::transform(prefix_.begin(), prefix_.end(), std::back_inserter(capital_),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  }

  Result<Section> write() {
    const Variant& variant = *choice_.variant;
    KERF_TRY(values_, choice_.family->fill(group_, context_, hooks_));
    Section section;
    section.title = fmt::format("{}/{}: computes {}", variant.family, variant.name, purpose());
    for (const auto& text : variant.scratch) {
      KERF_TRY(const auto parts, scratch_parts(variant, text));
      KERF_TRY(const std::string type, templates::substitute(variant.file, parts.second, header_values()));
      KERF_TRY(const auto parsed, ir::parse_tensor_type(parts.first, type));
      const std::string name = prefix_ + "_" + parts.first;
      section.scratch.push_back(fmt::format("{} = {}", name, type));
      section.scratch_parameters.emplace_back(parsed.dtype, name);
    }
    for (const Tunable& tunable : variant.tunables) section.tunables.push_back(tune_line(tunable));
    for (const auto& text : variant.requirements) {
      KERF_TRY(section.requirements.emplace_back(), templates::substitute(variant.file, text, header_values()));
    }
    KERF_TRY(const std::string code, templates::expand(variant.file, variant.text, code_values()));
    set_buffers(section);
    const CallResolver calls(used_part(hooks_.functions(), code) + "\n" + code, buffers_, hooks_.shortened());
    section.code = calls.resolved();
    for (const auto& text : variant.launches) {
      KERF_TRY(const std::string launch, templates::substitute(variant.file, text, header_values()));
      section.launches.push_back(with_arguments(launch, calls));
    }
    section.uses = hooks_.uses();
    drop_unused_scratch(section);
    return section;
  }

 private:
  /// "y (softmax, mul)": what is stored, and the functions of the task it comes from.
  std::string purpose() const {
    constexpr std::size_t kMost = 6;
    std::vector<std::string> functions;
    for (const ir::NodeId id : group_.members) {
      const std::string& origin = plan_.graph[id].origin;
      std::string name = origin.substr(0, origin.find('#'));
      if (!name.empty() && std::find(functions.begin(), functions.end(), name) == functions.end())
        functions.push_back(std::move(name));
    }
    if (functions.size() > kMost) {
      functions.resize(kMost);
      functions.emplace_back("...");
    }
    const std::string& stored = plan_.buffers[static_cast<std::size_t>(group_.buffer)].name;
    return functions.empty() ? stored : fmt::format("{} ({})", stored, join(functions, ", "));
  }

  /// The buffers that functions may take: what is read, what is written, scratch.
  void set_buffers(const Section& section) {
    const auto add = [&](int id, bool read_only) {
      const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(id)];
      buffers_.push_back({buffer.parameter, declared(language_.dialect, buffer.dtype, buffer.parameter, read_only)});
      names_.push_back(buffer.name);
    };
    const auto& written = hooks_.written();
    for (const int id : hooks_.uses().buffers)
      if (std::find(written.begin(), written.end(), id) == written.end()) add(id, true);
    for (const int id : written) add(id, false);
    for (const auto& [type, name] : section.scratch_parameters) {
      buffers_.push_back({name, declared(language_.dialect, type, name, false)});
      names_.push_back(name);
    }
  }

  /// Which of a variant's scratch buffers its kernels use may depend on the group.
  static void drop_unused_scratch(Section& section) {
    const std::set<std::string> words = identifiers(section.code);
    for (std::size_t s = section.scratch.size(); s-- > 0;) {
      if (words.contains(section.scratch_parameters[s].second)) continue;
      section.scratch.erase(section.scratch.begin() + static_cast<std::ptrdiff_t>(s));
      section.scratch_parameters.erase(section.scratch_parameters.begin() + static_cast<std::ptrdiff_t>(s));
    }
  }

  /// A launch or, in C++, a call of the entry point, with the buffers that its kernel takes.
  std::string with_arguments(const std::string& launch, const CallResolver& calls) const {
    std::vector<std::string> arguments;
    for (const std::size_t b : calls.needs(launch.substr(0, launch.find_first_of("<("))))
      arguments.push_back(language_.dialect.host_entry ? buffers_[b].name : names_[b]);
    return with_identifier(launch, kArgumentsMark, join(arguments, ", "));
  }

  std::string tune_line(const Tunable& tunable) const {
    std::int64_t chosen = tunable.values.front();
    if (const auto found = choice_.parameters.find(tunable.name); found != choice_.parameters.end())
      chosen = found->second;
    std::vector<std::string> values{std::to_string(chosen)};
    for (const auto value : tunable.values)
      if (value != chosen) values.push_back(std::to_string(value));
    return fmt::format("{}_{} = {{{}}}", capital_, tunable.name, join(values, ", "));
  }

  bool is_tunable(std::string_view name) const {
    const auto& list = choice_.variant->tunables;
    return std::any_of(list.begin(), list.end(), [&](const Tunable& t) { return t.name == name; });
  }

  templates::Environment header_values() {
    const auto lookup = [this](std::string_view name) -> std::optional<templates::Value> {
      if (is_tunable(name)) return fmt::format("{}_{}", capital_, name);
      if (const auto constant = choice_.variant->constants.find(name); constant != choice_.variant->constants.end())
        return std::to_string(constant->second);
      if (name == "args") return std::string(kArgumentsMark);
      if (const auto found = values_.extents.find(std::string(name)); found != values_.extents.end())
        return bracketed(found->second);
      if (const auto found = values_.text.find(std::string(name)); found != values_.text.end()) return found->second;
      if (std::islower(static_cast<unsigned char>(name[0])) != 0) return fmt::format("{}_{}", prefix_, name);
      return {};
    };
    return {lookup, {}, true};
  }

  templates::Environment code_values() {
    const auto lookup = [this](std::string_view name) -> std::optional<templates::Value> {
      if (is_tunable(name)) return fmt::format("{}_{}", capital_, name);
      if (const auto constant = choice_.variant->constants.find(name); constant != choice_.variant->constants.end())
        return std::to_string(constant->second);
      if (name == "params") return std::string(kParametersMark);
      if (name == "args") return std::string(kArgumentsMark);
      if (const auto found = values_.text.find(std::string(name)); found != values_.text.end()) return found->second;
      if (const auto found = values_.lists.find(std::string(name)); found != values_.lists.end()) return found->second;
      if (const auto found = values_.extents.find(std::string(name)); found != values_.extents.end())
        if (const auto dim = parse_dim(found->second)) return hooks_.extent(*dim);
      if (name == "real") return codegen::memory_type(language_.dialect, language_.options.compute);
      if (std::islower(static_cast<unsigned char>(name[0])) != 0) return fmt::format("{}_{}", prefix_, name);
      return {};
    };
    const auto files = [](std::string_view file) -> Result<std::string> {
      KERF_TRY(const std::string_view text, built_in_file(file));
      return std::string(text);
    };
    return {lookup, files, true};
  }

  codegen::BufferPlan plan_;
  const Group& group_;
  const Choice& choice_;
  const TargetContext& context_;
  const OutputLanguage& language_;
  std::string prefix_, capital_;
  HookWriter hooks_;
  TemplateValues values_;
  std::vector<BufferParameter> buffers_;
  std::vector<std::string> names_;  ///< of the buffers in the header
};

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

std::string header(const Partition& partition, const std::vector<Section>& sections, const OutputLanguage& language,
                   const std::string& target) {
  std::string text = fmt::format("/* kerf\ntarget:  {}\n", target);
  for (const Section& section : sections) {
    for (const auto& line : section.tunables) text += "tune:    " + line + "\n";
    for (const auto& line : section.requirements) text += "require: " + line + "\n";
  }
  for (const Buffer& buffer : partition.plan.buffers)
    if (buffer.role == BufferRole::scratch)
      text += fmt::format("scratch: {} = {}{}\n", buffer.name, dtype_name(buffer.dtype), to_string(buffer.shape));
  for (const Section& section : sections)
    for (const auto& line : section.scratch) text += "scratch: " + line + "\n";
  if (!language.dialect.host_entry)
    for (const Section& section : sections)
      for (const auto& line : section.launches) text += "launch:  " + line + "\n";
  return text + "*/\n";
}

std::string entry(const Partition& partition, const std::vector<Section>& sections, const OutputLanguage& language) {
  std::vector<std::string> parameters;
  for (const Buffer& buffer : partition.plan.buffers)
    parameters.push_back(fmt::format("[[maybe_unused]] {}{}* {}", buffer.role == BufferRole::input ? "const " : "",
                                     codegen::memory_type(language.dialect, buffer.dtype), buffer.parameter));
  for (const Section& section : sections)
    for (const auto& [type, name] : section.scratch_parameters)
      parameters.push_back(fmt::format("{}* {}", codegen::memory_type(language.dialect, type), name));
  std::string text = fmt::format("extern \"C\" void kerf_kernel({}) {{\n", join(parameters, ", "));
  for (const Section& section : sections)
    for (const auto& line : section.launches) text += fmt::format("  {};\n", line);
  return text + "}\n";
}

/// Shape symbols as 64-bit values. A symbol that is also the name of something in a function that uses its value is
/// read here, before anything can hide it.
std::string extents(const std::set<std::string>& symbols, const codegen::BufferPlan& plan, const std::string& code) {
  const auto functions = identifiers_by_function(code);
  std::vector<std::string> hidden;
  std::string text;
  for (const auto& symbol : symbols) {
    const std::string& value = plan.symbols.at(symbol);
    const bool hides = std::any_of(functions.begin(), functions.end(), [&](const std::set<std::string>& words) {
      return words.contains(symbol) && words.contains(value);
    });
    if (hides) hidden.push_back(fmt::format("kerf_symbol_{0} = {0}", symbol));
    text += fmt::format("#define {} ((kerf_index){}{})\n", value, hides ? "kerf_symbol_" : "", symbol);
  }
  return hidden.empty() ? text : fmt::format("enum {{ {} }};\n{}", join(hidden, ", "), text);
}

/// The code with the buffers called as in the task, as far as that is the name of nothing else in a function that takes
/// the buffer.
std::string with_buffer_names(std::string code, const codegen::BufferPlan& plan, const std::vector<ShapeSet>& shapes) {
  const auto functions = identifiers_by_function(code);
  std::set<std::string> symbols;  // constants in the code, whether or not it uses them
  for (const ShapeSet& shape : shapes)
    for (const auto& [symbol, value] : shape.symbols) symbols.insert(symbol);
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    const Buffer& buffer = plan.buffers[b];
    std::set<std::string> words = symbols;
    for (const auto& function : functions)
      if (function.contains(place_holder(b))) words.insert(function.begin(), function.end());
    const std::string_view ending = buffer.role == BufferRole::input    ? "_in"
                                    : buffer.role == BufferRole::output ? "_out"
                                                                        : "_scratch";
    std::string chosen = buffer.name;
    const bool ours = chosen.starts_with("kerf_") || chosen.starts_with("KERF_");  // names of the dialect layer
    if (ours) chosen = "task_" + chosen;
    if (words.contains(chosen)) chosen += ending;
    while (words.contains(chosen)) chosen += "_";
    symbols.insert(chosen);
    code = with_identifier(code, place_holder(b), chosen);
  }
  return code;
}

Result<std::string> layer_of(const OutputLanguage& language) {
  std::string text;
  for (const std::string& file : language.headers) {
    KERF_TRY(const std::string_view layer, built_in_file(file));
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", trim(layer));
  }
  return text;
}

}  // namespace

codegen::BufferPlan inside(const codegen::BufferPlan& plan, const Group& group) {
  codegen::BufferPlan view = plan;
  if (!group.copy) view.location[static_cast<std::size_t>(group.root)] = -1;
  return view;
}

bool allowed(const Variant& variant, const TemplateValues& values, const Bindings& parameters,
             const std::vector<ShapeSet>& shapes) {
  const auto lookup = [&](std::string_view name) -> std::optional<templates::Value> {
    for (const Bindings* numbers : {&parameters, &variant.constants})
      if (const auto found = numbers->find(name); found != numbers->end()) return std::to_string(found->second);
    if (const auto found = values.extents.find(std::string(name)); found != values.extents.end())
      return bracketed(found->second);
    if (const auto found = values.text.find(std::string(name)); found != values.text.end()) return found->second;
    return {};
  };
  for (const auto& text : variant.requirements) {
    const auto plain = templates::substitute(variant.file, text, {lookup, {}, true});
    if (!plain) return false;
    const auto condition = parse_dim(*plain);
    if (!condition) return false;
    for (const ShapeSet& shape : shapes) {
      const auto value = condition->evaluate(shape.symbols);
      if (!value || *value == 0) return false;
    }
  }
  return true;
}

Result<Candidate> render(const Partition& partition, const std::vector<Choice>& choices, const TargetContext& context,
                         const OutputLanguage& language, const std::string& name) {
  KERF_CHECK(choices.size() == partition.groups.size(), "one choice per group");
  const std::string base = free_prefix(language);
  Partition held = partition;
  for (std::size_t b = 0; b < held.plan.buffers.size(); ++b) held.plan.buffers[b].parameter = place_holder(b);
  std::vector<Section> sections;
  std::set<std::string> helpers, symbols;
  for (std::size_t g = 0; g < choices.size(); ++g) {
    KERF_TRY(Section section, GroupRenderer(held, g, choices[g], context, language, base).write());
    helpers.insert(section.uses.helpers.begin(), section.uses.helpers.end());
    symbols.insert(section.uses.symbols.begin(), section.uses.symbols.end());
    sections.push_back(std::move(section));
  }
  std::string text = header(held, sections, language, context.target);
  text += language.dialect.prologue;
  const auto& buffers = held.plan.buffers;
  if (language.options.compute == DType::f64 ||
      std::any_of(buffers.begin(), buffers.end(), [](const Buffer& b) { return b.dtype == DType::f64; }))
    text += language.dialect.f64_prologue;
  std::string code = codegen::helper_definitions(helpers, language.dialect, language.options);
  for (const Section& section : sections) code += fmt::format("\n// ---- {}\n{}", section.title, section.code);
  if (language.dialect.host_entry) code += "\n" + entry(held, sections, language);
  code = extents(symbols, held.plan, code) + code;
  code = wrapped(with_buffer_names(std::move(code), partition.plan, context.shapes));
  KERF_TRY(const std::string layer, layer_of(language));
  text += fmt::format("\n// ---- dialect\n{}\n\n// ---- task\n", trim(used_part(layer, code)));
  return parse_candidate(name, text + code);
}

Status check_group(const Partition& partition, std::size_t number, const Choice& choice, const TargetContext& context,
                   const OutputLanguage& language) {
  Partition held = partition;
  for (std::size_t b = 0; b < held.plan.buffers.size(); ++b) held.plan.buffers[b].parameter = place_holder(b);
  KERF_TRY(Section section, GroupRenderer(held, number, choice, context, language, free_prefix(language)).write());
  const std::string code = section.code;
  std::vector<Section> alone;
  alone.push_back(std::move(section));
  KERF_TRY(const Candidate candidate, parse_candidate("group", header(held, alone, language, context.target) + code));
  return {};
}

}  // namespace kerf::synth
