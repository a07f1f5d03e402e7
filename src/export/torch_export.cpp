#include "export/torch_export.hpp"

#include <fmt/format.h>

#include <cctype>
#include <nlohmann/json.hpp>

#include "base/hash.hpp"
#include "base/program_parts.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "export/gpu_parts.hpp"
#include "export/parts.hpp"
#include "export/python_text.hpp"
#include "model/names.hpp"

namespace kerf::exporting {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kRecordSchema = 1;

auto refused(const std::string& why) { return fail(Errc::invalid_input, "the model cannot be exported: " + why); }

/// What stays with PyTorch, in words; "" when the task is the whole model.
std::string uncovered_words(const Json& record) {
  std::vector<std::string> names;
  for (const Json& one : record.at("uncovered")) {
    const auto line = one.value("line", 0);
    names.push_back(one.value("operator", "?") + (line > 0 ? fmt::format(" (line {})", line) : ""));
  }
  return join(names, ", ");
}

/// The first thing of a tree that no export can say; "".
std::string opaque_in(const Json& tree) {
  if (tree.is_array())
    for (const Json& item : tree)
      if (const std::string found = opaque_in(item); !found.empty()) return found;
  if (!tree.is_object()) return "";
  if (const auto found = tree.find("opaque"); found != tree.end()) return found->get<std::string>();
  for (const auto& [key, item] : tree.items())
    if (const std::string found = opaque_in(item); !found.empty()) return found;
  return "";
}

/// Names of the record's buffers are those of the task, in its order.
bool has_names(const Json& entries, const std::vector<ir::TensorType>& tensors) {
  if (entries.size() != tensors.size()) return false;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (entries[i].at("name") != tensors[i].name) return false;
  return true;
}

/// Throws where something is missing or of another kind.
void check_fields(const Json& record) {
  for (const char* key : {"file", "source", "torch"}) (void)record.at(key).get_ref<const std::string&>();
  for (const char* key : {"inputs", "outputs", "modes", "changes", "imports", "uncovered"})
    (void)record.at(key).get_ref<const Json::array_t&>();
  for (const char* key : {"arguments", "result", "model", "settings"})
    (void)record.at(key).get_ref<const Json::object_t&>();
  for (const char* key : {"kind", "name"}) (void)record.at("model").at(key).get_ref<const std::string&>();
}

Status check_record(const Json& record, const Winner& winner) {
  check_fields(record);
  if (const std::string missing = uncovered_words(record); !missing.empty())
    return refused(
        fmt::format("the run is about a part of it, about {:.0f} % of its arithmetic; these operators stay with "
                    "PyTorch: {}. Formats source, c-header and cmake export the part",
                    100 * record.at("share").get<double>(), missing));
  if (!has_names(record.at("inputs"), winner.task.inputs) || !has_names(record.at("outputs"), winner.task.outputs))
    return refused("its record and the run's task name different buffers");
  for (const Json& input : record.at("inputs"))
    if (const std::string reason = opaque_in(input); !reason.empty())
      return refused(fmt::format("input '{}' is {}", input.value("source", "?"), reason));
  if (const std::string reason = opaque_in(record.at("result")); !reason.empty())
    return refused("forward's result has " + reason);
  if (const std::string reason = opaque_in(record.at("arguments")); !reason.empty())
    return refused("an argument of forward is a " + reason);
  return {};
}

Result<Json> read_record(const std::string& text, const Winner& winner) {
  auto record = Json::parse(text, nullptr, false);
  if (!record.is_object() || record.value("schema", 0) != kRecordSchema)
    return fail(Errc::invalid_input,
                "the record of the model cannot be read, or is of another version of Kerf; "
                "optimize the model file again");
  try {
    KERF_TRY_VOID(check_record(record, winner));
  } catch (const Json::exception& error) {
    return fail(Errc::invalid_input, fmt::format("the record of the model is damaged: {}", error.what()));
  }
  return record;
}

Result<Json> extents(const std::vector<Dim>& dims, const Bindings& constants) {
  Json numbers = Json::array();
  for (std::size_t d = 0; d < 3; ++d) {
    std::int64_t extent = 1;
    if (d < dims.size()) {
      KERF_TRY(extent, dims[d].evaluate(constants));
    }
    numbers.push_back(extent);
  }
  return numbers;
}

/// Scratch in bytes and launches with numbers for everything.
Status add_launches(Json& plan, const Winner& winner, const Bindings& constants) {
  plan["scratch"] = plan["launches"] = Json::array();
  const LaunchPlan& own = winner.candidate.plan;
  for (const auto& scratch : own.scratch) {
    KERF_TRY(const std::int64_t count, element_count(scratch.shape).evaluate(constants));
    plan["scratch"].push_back(count * static_cast<std::int64_t>(dtype_size(scratch.dtype)));
  }
  for (const Launch& launch : own.launches) {
    KERF_TRY(const Json grid, extents(launch.grid, constants));
    KERF_TRY(const Json block, extents(launch.block, constants));
    KERF_TRY(const std::int64_t shared, launch.shared_bytes.evaluate(constants));
    plan["launches"].push_back({{"kernel", launch.kernel},
                                {"grid", grid},
                                {"block", block},
                                {"shared", shared},
                                {"args", argument_indices(winner, own, launch)}});
  }
  return {};
}

/// For each part of a program of many kernels, which are compiled side by side, what it leaves out of the source.
Json parts_of(const Winner& winner) {
  std::vector<std::string> kernels;
  for (const Launch& launch : winner.candidate.plan.launches) kernels.push_back(launch.kernel);
  Json parts = Json::array();
  for (const auto& part : program_parts(winner.candidate.source, kernels)) {
    Json ranges = Json::array();
    for (const SourceRange& range : part) ranges.push_back({range.begin, range.end});
    parts.push_back(std::move(ranges));
  }
  return parts;
}

/// All that the runtime has to know, without the sources.
Result<Json> plan_of(const Exporter& exporter, const Winner& winner, const Json& record) {
  std::vector<Instance> instances;  // of the module's own shape; others were checked only
  const auto sets = shapes_for(winner.task, winner.target);
  for (Instance& instance : instances_of(winner))
    if (std::ranges::any_of(sets, [&](const ShapeSet& set) { return set.name == instance.name && set.weight > 0; }))
      instances.push_back(std::move(instance));
  if (instances.size() != 1) return refused("its task has several timed shapes");
  KERF_TRY(const PythonBuild build, exporter.python_build(winner));
  const Bindings constants = instances.front().constants();
  Json plan{{"schema", 1},
            {"name", function_name(winner)},
            {"language", build.language},
            {"precision", precision_name(winner.task.precision)},
            {"options", build.options},
            {"prelude", build.prelude},
            {"headers", build.headers},
            {"constants", constant_definitions(constants)},
            {"parts", parts_of(winner)}};
  KERF_TRY_VOID(add_launches(plan, winner, constants));
  for (const char* key : {"inputs", "outputs", "arguments", "result", "model", "modes", "changes"})
    plan[key] = record.at(key);
  for (Json& input : plan["inputs"]) input.erase("facts");
  return plan;
}

/// One entry a line: long, but to be read.
std::string plan_text(const Json& plan) {
  std::string text = "{\n";
  for (const auto& [key, value] : plan.items()) {
    const bool listed = value.is_array() && !value.empty() && value.front().is_object();
    text += fmt::format(" {}: ", Json(key).dump());
    if (!listed) {
      text += value.dump();
    } else {
      for (std::size_t i = 0; i < value.size(); ++i) text += (i == 0 ? "[\n  " : ",\n  ") + value[i].dump();
      text += "]";
    }
    text += ",\n";
  }
  return text.substr(0, text.size() - 2) + "\n}";
}

std::string runtime_text() {
  return template_file("torch_compile.py") + "\n\n" + template_file("torch_kernels.py") + "\n\n" +
         template_file("torch_calls.py");
}

/// What the kernels leave out or take for granted, for people.
std::string promises(const Json& record) {
  std::vector<std::string> lines;
  std::vector<std::string> changes;
  for (const Json& name : record.at("changes")) changes.push_back(name.get<std::string>());
  if (!changes.empty())
    lines.push_back(fmt::format("The original's forward changes {}; the kernels do not.", join(changes, ", ")));
  for (const Json& input : record.at("inputs"))
    for (const Json& fact : input.value("facts", Json::array()))
      if (const std::string word = fact.get<std::string>(); word.ends_with("triangular"))
        lines.push_back(
            fmt::format("The argument {} is taken to be {}, as the file's get_inputs makes it: the rest of "
                        "it is not read.",
                        input.value("source", "?"), word.substr(0, word.find('_')) + " triangular"));
  if (!record.at("imports").empty()) {
    std::vector<std::string> names;
    for (const Json& name : record.at("imports")) names.push_back(name.get<std::string>());
    lines.push_back(
        fmt::format("The model file imports {} from its folder: it must be importable here too.", join(names, ", ")));
  }
  return join(lines, "\n");
}

}  // namespace

std::vector<std::string> model_format_names() { return {"kernelbench", "torch"}; }

Result<std::string> kernelbench_file(const Exporter& exporter, const Winner& winner, const std::string& record_text) {
  KERF_TRY(const Json record, read_record(record_text, winner));
  KERF_TRY(Json plan, plan_of(exporter, winner, record));
  plan["casts"] = true;
  const std::string source = record.at("source").get<std::string>();
  const Json& made = record.at("model");
  File file{"model_new.py",
            filled("kernelbench.py.in", {{"ORIGIN", python_comment(winner.origin)},
                                         {"PROMISES", python_comment(promises(record))},
                                         {"VERSION", std::string(kKerfVersion)},
                                         {"RUNTIME", runtime_text()},
                                         {"KERNEL", "KERF_KERNEL = " + python_string(winner.candidate.source)},
                                         {"MODEL", "KERF_MODEL = " + python_string(source)},
                                         {"PLAN", "KERF_PLAN = json.loads(" + python_string(plan_text(plan)) + ")"},
                                         {"ID", sha256_hex(source + winner.candidate.id).substr(0, 12)},
                                         {"FILE", python_string(record.at("file").get<std::string>())},
                                         {"FILE_TEXT", record.at("file").get<std::string>()},
                                         {"KIND", made.at("kind").get<std::string>()},
                                         {"NAME", made.at("name").get<std::string>()}})};
  mark_exported(file);
  return file.text;
}

Result<std::vector<File>> torch_package(const Exporter& exporter, const Winner& winner, const std::string& record_text,
                                        const std::string& package) {
  KERF_TRY_VOID(check_name("the package's name (the folder's)", package));
  KERF_TRY(const Json record, read_record(record_text, winner));
  KERF_TRY(Json plan, plan_of(exporter, winner, record));
  plan["settings"] = record.at("settings");
  const std::string source = record.at("source").get<std::string>();
  const Json& made = record.at("model");
  const std::string id = sha256_hex(source + winner.candidate.id).substr(0, 12);
  const templates::Record values{{"ORIGIN", python_comment(winner.origin)},
                                 {"ORIGIN_TEXT", winner.origin},
                                 {"PROMISES", promises(record)},
                                 {"VERSION", std::string(kKerfVersion)},
                                 {"ID", id},
                                 {"PACKAGE", package},
                                 {"OPERATOR", function_name(winner)},
                                 {"FILE", record.at("file").get<std::string>()},
                                 {"TORCH", record.at("torch").get<std::string>()},
                                 {"KIND", made.at("kind").get<std::string>()},
                                 {"NAME", made.at("name").get<std::string>()}};
  std::vector<File> files{{"__init__.py", filled("torch_init.py.in", values)},
                          {"_runtime.py", runtime_text() + "\n\n" + template_file("torch_operator.py")},
                          {"_plan.py", "KERF_PLAN = " + python_string(plan_text(plan)) +
                                           "\n\nKERF_KERNEL = " + python_string(winner.candidate.source) + "\n"},
                          {"original.py", source},
                          {"check.py", template_file("torch_check.py")},
                          {"README.md", filled("torch_readme.md.in", values)}};
  for (File& file : files) mark_exported(file);
  return files;
}

}  // namespace kerf::exporting
