#include "propose/synth/section.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.hpp"
#include "propose/synth/calls.hpp"
#include "propose/synth/fold.hpp"
#include "propose/synth/tidy.hpp"
#include "propose/synth/trim.hpp"

namespace kerf::synth {
namespace {

using codegen::Buffer;

std::string declared(const codegen::DialectTraits& dialect, DType type, const std::string& name, bool read_only) {
  return fmt::format("{}{}{}* KERF_RESTRICT {}", dialect.pointer_prefix, read_only ? "const " : "",
                     codegen::memory_type(dialect, type), name);
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
  GroupRenderer(GroupView view, const Family& family, const Variant& variant, const TargetContext& context,
                const OutputLanguage& language)
      : view_(std::move(view)),
        plan_(view_.plan),
        group_(view_.group),
        family_(family),
        variant_(variant),
        context_(context),
        language_(language),
        hooks_(plan_, language_.dialect, language_.options, prefix_) {}

  Result<Section> write() {
    KERF_TRY(Section section, outline());
    const std::string whole = folded(used_part(hooks_.functions(), section.code) + "\n" + section.code, Literals::code);
    const CallResolver calls(without_unused(whole, kernels_), buffers_);
    section.code = calls.resolved();
    for (std::size_t l = 0; l < section.launches.size(); ++l)
      section.arguments[l] = arguments_of(section.launches[l], calls);
    section.uses = hooks_.uses();
    drop_unused_scratch(section);
    return section;
  }

  /// With code as the template gives it, launches that pass everything, and all of the variant's scratch.
  Result<Section> outline() {
    const Variant& variant = variant_;
    KERF_TRY(values_, family_.fill(group_, context_, hooks_));
    Section section;
    for (const auto& text : variant.scratch) {
      KERF_TRY(const auto parts, scratch_parts(variant, text));
      KERF_TRY(const std::string type, templates::substitute(variant.file, parts.second, header_values()));
      KERF_TRY(const auto parsed, ir::parse_tensor_type(parts.first, type));
      const std::string name = prefix_ + "_" + parts.first;
      section.scratch.push_back(fmt::format("{} = {}", name, folded(type, Literals::header)));
      section.scratch_parameters.emplace_back(parsed.dtype, name);
    }
    for (const auto& text : variant.requirements) {
      KERF_TRY(const std::string line, templates::substitute(variant.file, text, header_values()));
      if (!holds_always(line)) section.requirements.push_back(folded(line, Literals::header));
    }
    KERF_TRY(section.code, templates::expand(variant.file, variant.text, code_values()));
    set_buffers(section);
    for (const auto& text : variant.launches) {
      KERF_TRY(const std::string launch, templates::substitute(variant.file, text, header_values()));
      section.launches.push_back(folded(launch, Literals::header));
      kernels_.insert(launch.substr(0, launch.find_first_of("<(")));
    }
    section.arguments.assign(section.launches.size(), passed_);
    return section;
  }

 private:
  /// The buffers that functions may take: what is read, what is written, scratch.
  void set_buffers(const Section& section) {
    const auto add = [&](int id, bool read_only) {
      const Buffer& buffer = plan_.buffers[static_cast<std::size_t>(id)];
      buffers_.push_back({buffer.parameter, declared(language_.dialect, buffer.dtype, buffer.parameter, read_only)});
      passed_.push_back({id, {}});
    };
    const auto& written = hooks_.written();
    for (const int id : hooks_.uses().buffers)
      if (std::find(written.begin(), written.end(), id) == written.end()) add(id, true);
    for (const int id : written) add(id, false);
    for (const auto& [type, name] : section.scratch_parameters) {
      buffers_.push_back({name, declared(language_.dialect, type, name, false)});
      passed_.push_back({-1, name});
    }
  }

  /// Which of a variant's scratch buffers its kernels use may depend on the group.
  static void drop_unused_scratch(Section& section) {
    if (section.scratch.empty()) return;
    const std::set<std::string> words = identifiers(section.code);
    for (std::size_t s = section.scratch.size(); s-- > 0;) {
      if (words.contains(section.scratch_parameters[s].second)) continue;
      section.scratch.erase(section.scratch.begin() + static_cast<std::ptrdiff_t>(s));
      section.scratch_parameters.erase(section.scratch_parameters.begin() + static_cast<std::ptrdiff_t>(s));
    }
  }

  /// What a launch (in C++, a call of the entry point) passes: the buffers that its kernel takes.
  std::vector<Argument> arguments_of(const std::string& launch, const CallResolver& calls) const {
    std::vector<Argument> arguments;
    for (const std::size_t b : calls.needs(launch.substr(0, launch.find_first_of("<("))))
      arguments.push_back(passed_[b]);
    return arguments;
  }

  /// Whether a requirement says nothing about the task's shapes and no choice of tunables can break it.
  bool holds_always(const std::string& text) const {
    const auto condition = parse_dim(text);
    if (!condition) return false;
    if (condition->is_constant()) return condition->constant() != 0;
    std::vector<std::string> names;
    condition->collect_symbols(names);
    std::vector<Bindings> choices(1);
    for (const Tunable& tunable : variant_.tunables) {
      const std::string name = fmt::format("{}_{}", capital_, tunable.name);
      if (std::erase(names, name) == 0) continue;
      std::vector<Bindings> more;
      for (const Bindings& choice : choices)
        for (const std::int64_t value : tunable.values) (more.emplace_back(choice))[name] = value;
      choices = std::move(more);
    }
    return names.empty() && std::ranges::all_of(choices, [&](const Bindings& choice) {
             const auto value = condition->evaluate(choice);
             return value && *value != 0;
           });
  }

  bool is_tunable(std::string_view name) const {
    const auto& list = variant_.tunables;
    return std::any_of(list.begin(), list.end(), [&](const Tunable& t) { return t.name == name; });
  }

  templates::Environment header_values() {
    const auto lookup = [this](std::string_view name) -> std::optional<templates::Value> {
      if (is_tunable(name)) return fmt::format("{}_{}", capital_, name);
      if (const auto constant = variant_.constants.find(name); constant != variant_.constants.end())
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
      if (const auto constant = variant_.constants.find(name); constant != variant_.constants.end())
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

  GroupView view_;
  const codegen::BufferPlan& plan_;
  const Group& group_;
  const Family& family_;
  const Variant& variant_;
  const TargetContext& context_;
  const OutputLanguage& language_;
  const std::string prefix_{kPrefixMark}, capital_{kCapitalMark};
  HookWriter hooks_;
  TemplateValues values_;
  std::set<std::string> kernels_;  ///< that launches name
  std::vector<BufferParameter> buffers_;
  std::vector<Argument> passed_;  ///< for each of buffers_
};

}  // namespace

std::string place_holder(std::size_t buffer) { return fmt::format("{}{}__", kPlaceHolder, buffer); }

std::string bracketed(const std::string& text) {
  const bool atom =
      std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  return atom ? text : "(" + text + ")";
}

Result<Section> write_section(GroupView view, const Family& family, const Variant& variant,
                              const TargetContext& context, const OutputLanguage& language) {
  for (std::size_t b = 0; b < view.plan.buffers.size(); ++b) view.plan.buffers[b].parameter = place_holder(b);
  return GroupRenderer(std::move(view), family, variant, context, language).write();
}

Result<Section> outline_section(GroupView view, const Family& family, const Variant& variant,
                                const TargetContext& context, const OutputLanguage& language) {
  for (std::size_t b = 0; b < view.plan.buffers.size(); ++b) view.plan.buffers[b].parameter = place_holder(b);
  GroupRenderer renderer(std::move(view), family, variant, context, language);
  return renderer.outline();
}

std::string filled(std::string_view text, std::string_view prefix, const std::vector<std::string>& buffers) {
  std::string capital(prefix);
  std::transform(capital.begin(), capital.end(), capital.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  std::string result;
  result.reserve(text.size());
  std::size_t copied = 0;
  const auto replace = [&](std::size_t at, std::size_t length, std::string_view by) {
    result += text.substr(copied, at - copied);
    result += by;
    copied = at + length;
  };
  for (std::size_t at = text.find_first_of("kK"); at < text.size(); at = text.find_first_of("kK", at)) {
    const std::string_view rest = text.substr(at);
    if (rest.starts_with(kPrefixMark)) {
      replace(at, kPrefixMark.size(), prefix);
    } else if (rest.starts_with(kCapitalMark)) {
      replace(at, kCapitalMark.size(), capital);
    } else if (rest.starts_with(kPlaceHolder)) {
      std::size_t number = 0, digits = kPlaceHolder.size();
      for (; digits < rest.size() && std::isdigit(static_cast<unsigned char>(rest[digits])) != 0; ++digits)
        number = 10 * number + static_cast<std::size_t>(rest[digits] - '0');
      if (rest.substr(digits, 2) == "__" && number < buffers.size()) replace(at, digits + 2, buffers[number]);
    }
    at = std::max(at + 1, copied);
  }
  return result += text.substr(copied);
}

}  // namespace kerf::synth
