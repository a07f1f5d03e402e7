#include "propose/synth/render.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "codegen/helpers.hpp"
#include "propose/synth/template.hpp"
#include "propose/synth/trim.hpp"

namespace kerf::synth {
namespace {

using codegen::Buffer;
using codegen::BufferRole;

/// The text of one group, ready to be put into the file.
struct Section {
  std::string title, hooks, code;
  std::vector<std::string> tunables, requirements, scratch, launches;   ///< header lines
  std::vector<std::pair<std::string, std::string>> scratch_parameters;  ///< type, name; for the C++ entry point
  codegen::Uses uses;
};

std::string declared(const std::string& type, const std::string& name, bool read_only) {
  return fmt::format("KERF_GLOBAL {}{}* KERF_RESTRICT {}", read_only ? "const " : "", type, name);
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
    KERF_TRY(filling_, choice_.family->fill(group_, context_, hooks_));
    Section section;
    section.title = fmt::format("{}/{}", variant.family, variant.name);
    for (const auto& text : variant.scratch) {
      KERF_TRY(const auto parts, scratch_parts(variant, text));
      KERF_TRY(const std::string type, substitute(variant.file, parts.second, header_lookup()));
      KERF_TRY(const auto parsed, ir::parse_tensor_type(parts.first, type));
      const std::string name = prefix_ + "_" + parts.first;
      section.scratch.push_back(fmt::format("{} = {}", name, type));
      section.scratch_parameters.emplace_back(codegen::memory_type(language_.dialect, parsed.dtype), name);
    }
    set_arguments(section);
    for (const Tunable& tunable : variant.tunables) section.tunables.push_back(tune_line(tunable));
    for (const auto& text : variant.requirements) {
      KERF_TRY(section.requirements.emplace_back(), substitute(variant.file, text, header_lookup()));
    }
    for (const auto& text : variant.launches) {
      KERF_TRY(section.launches.emplace_back(), substitute(variant.file, text, header_lookup()));
    }
    section.hooks = hooks_.functions(parameters_);
    KERF_TRY(section.code, expand(variant.file, variant.text, code_lookup(), language_.taken));
    section.uses = hooks_.uses();
    return section;
  }

 private:
  void set_arguments(const Section& section) {
    std::vector<std::string> parameters, arguments, names;
    const auto add = [&](int id, bool read_only) {
      const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(id)];
      parameters.push_back(
          declared(codegen::memory_type(language_.dialect, buffer.dtype), buffer.parameter, read_only));
      arguments.push_back(buffer.parameter);
      names.push_back(buffer.name);
    };
    const auto& written = hooks_.written();
    for (const int id : hooks_.uses().buffers)
      if (std::find(written.begin(), written.end(), id) == written.end()) add(id, true);
    for (const int id : written) add(id, false);
    for (const auto& [type, name] : section.scratch_parameters) {
      parameters.push_back(declared(type, name, false));
      arguments.push_back(name);
      names.push_back(name);
    }
    parameters_ = join(parameters, ", ");
    code_arguments_ = join(arguments, ", ");
    header_arguments_ = language_.dialect.host_entry ? code_arguments_ : join(names, ", ");
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

  Lookup header_lookup() {
    return [this](std::string_view name) -> std::optional<std::string> {
      if (is_tunable(name)) return fmt::format("{}_{}", capital_, name);
      if (const auto constant = choice_.variant->constants.find(name); constant != choice_.variant->constants.end())
        return std::to_string(constant->second);
      if (name == "args") return header_arguments_;
      if (const auto found = filling_.extents.find(std::string(name)); found != filling_.extents.end())
        return bracketed(found->second);
      if (const auto found = filling_.text.find(std::string(name)); found != filling_.text.end()) return found->second;
      if (std::islower(static_cast<unsigned char>(name[0])) != 0) return fmt::format("{}_{}", prefix_, name);
      return {};
    };
  }

  Lookup code_lookup() {
    return [this](std::string_view name) -> std::optional<std::string> {
      if (is_tunable(name)) return fmt::format("{}_{}", capital_, name);
      if (const auto constant = choice_.variant->constants.find(name); constant != choice_.variant->constants.end())
        return std::to_string(constant->second);
      if (name == "params") return parameters_;
      if (name == "args") return code_arguments_;
      if (const auto found = filling_.text.find(std::string(name)); found != filling_.text.end()) return found->second;
      if (const auto found = filling_.extents.find(std::string(name)); found != filling_.extents.end())
        if (const auto dim = parse_dim(found->second)) return hooks_.extent(*dim);
      if (name == "real") return codegen::memory_type(language_.dialect, language_.options.compute);
      if (std::islower(static_cast<unsigned char>(name[0])) != 0) return fmt::format("{}_{}", prefix_, name);
      return {};
    };
  }

  codegen::Plan plan_;
  const Group& group_;
  const Choice& choice_;
  const TargetContext& context_;
  const OutputLanguage& language_;
  std::string prefix_, capital_;
  HookWriter hooks_;
  TemplateValues filling_;
  std::string parameters_, code_arguments_, header_arguments_;
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
    for (const auto& [type, name] : section.scratch_parameters) parameters.push_back(fmt::format("{}* {}", type, name));
  std::string text = fmt::format("extern \"C\" void kerf_kernel({}) {{\n", join(parameters, ", "));
  for (const Section& section : sections)
    for (const auto& line : section.launches) text += fmt::format("  {};\n", line);
  return text + "}\n";
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

codegen::Plan inside(const codegen::Plan& plan, const Group& group) {
  codegen::Plan view = plan;
  if (!group.copy) view.location[static_cast<std::size_t>(group.root)] = -1;
  return view;
}

bool allowed(const Variant& variant, const TemplateValues& values, const Bindings& parameters,
             const std::vector<ShapeSet>& shapes) {
  const Lookup lookup = [&](std::string_view name) -> std::optional<std::string> {
    for (const Bindings* numbers : {&parameters, &variant.constants})
      if (const auto found = numbers->find(name); found != numbers->end()) return std::to_string(found->second);
    if (const auto found = values.extents.find(std::string(name)); found != values.extents.end())
      return bracketed(found->second);
    if (const auto found = values.text.find(std::string(name)); found != values.text.end()) return found->second;
    return {};
  };
  for (const auto& text : variant.requirements) {
    const auto plain = substitute(variant.file, text, lookup);
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
  std::vector<Section> sections;
  std::set<std::string> helpers, symbols;
  for (std::size_t g = 0; g < choices.size(); ++g) {
    KERF_TRY(Section section, GroupRenderer(partition, g, choices[g], context, language, base).write());
    helpers.insert(section.uses.helpers.begin(), section.uses.helpers.end());
    symbols.insert(section.uses.symbols.begin(), section.uses.symbols.end());
    sections.push_back(std::move(section));
  }
  std::string text = header(partition, sections, language, context.target);
  text += language.dialect.prologue;
  const auto& buffers = partition.plan.buffers;
  if (language.options.compute == DType::f64 ||
      std::any_of(buffers.begin(), buffers.end(), [](const Buffer& b) { return b.dtype == DType::f64; }))
    text += language.dialect.f64_prologue;
  std::string code;
  for (const auto& symbol : symbols)
    code += fmt::format("#define {} ((kerf_index){})\n", partition.plan.symbols.at(symbol), symbol);
  code += codegen::helper_definitions(helpers, language.dialect, language.options);
  for (const Section& section : sections)
    code += fmt::format("\n// ---- {}\n{}{}", section.title, used_part(section.hooks, section.code), section.code);
  if (language.dialect.host_entry) code += "\n" + entry(partition, sections, language);
  KERF_TRY(const std::string layer, layer_of(language));
  text += fmt::format("\n// ---- dialect\n{}\n\n// ---- task\n", trim(used_part(layer, code)));
  return parse_candidate(name, text + code);
}

}  // namespace kerf::synth
