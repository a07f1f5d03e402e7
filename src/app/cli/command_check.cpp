#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/commands.hpp"
#include "app/cli/model_task.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "ir/analysis/cost.hpp"
#include "measure/peaks.hpp"
#include "oracle/reference.hpp"
#include "run/target_session.hpp"
#include "task/task.hpp"
#include "verify/admission.hpp"
#include "verify/cpp_reference.hpp"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

struct Floor {
  std::string target;
  SpeedOfLight light;
};

/// One shape set with what it costs at least.
struct ShapeFacts {
  ShapeSet set;
  double bytes = 0;              ///< inputs and outputs, once each
  std::optional<ir::Cost> cost;  ///< of expressions only
  std::vector<Floor> floors;     ///< on calibrated devices of targets that use the set
};

double tensor_bytes(const Task& task, const ShapeSet& set) {
  double bytes = 0;
  for (const auto* tensors : {&task.inputs, &task.outputs})
    for (const auto& tensor : *tensors)
      if (const auto count = element_count(tensor.shape).evaluate(set.symbols))
        bytes += static_cast<double>(*count) * static_cast<double>(dtype_size(tensor.dtype));
  return bytes;
}

std::string symbols_text(const Bindings& symbols) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : symbols) parts.push_back(fmt::format("{}={}", name, value));
  return join(parts, " ");
}

/// As people write it: // divides whole numbers.
std::string written(const Shape& shape) {
  std::string text = to_string(shape);
  for (std::size_t at = 0; (at = text.find(" / ", at)) != std::string::npos; at += 4) text.replace(at, 3, " // ");
  return text;
}

/// A whole network has hundreds of inputs; the rest is for --json.
std::string first_few(std::vector<std::string> parts) {
  constexpr std::size_t kShown = 12;
  const std::size_t left = parts.size() > kShown + 1 ? parts.size() - kShown : 0;
  if (left == 0) return join(parts, ", ");
  parts.resize(kShown);
  return fmt::format("{} and {} more (--json has all)", join(parts, ", "), left);
}

std::string tensors_text(const std::vector<ir::TensorType>& tensors) {
  std::vector<std::string> parts;
  for (const auto& tensor : tensors)
    parts.push_back(fmt::format("{} {}{}", tensor.name, dtype_name(tensor.dtype), written(tensor.shape)));
  return first_few(std::move(parts));
}

Result<std::vector<ShapeFacts>> gather(const Task& task, const Environment& environment,
                                       const TargetResources& context) {
  std::vector<ShapeFacts> shapes;
  for (const auto& set : task.shapes) {
    ShapeFacts facts{set, tensor_bytes(task, set), std::nullopt, {}};
    if (task.graph) {
      KERF_TRY(facts.cost, ir::cost(*task.graph, set.symbols));
    }
    shapes.push_back(std::move(facts));
  }
  if (environment.cache.empty() || !task.graph) return shapes;
  for (const auto& name : target_names()) {
    const auto target = make_target(name, context);
    if (!target) continue;  // what is missing is the doctor's business
    const auto peaks = load_peaks(environment.cache, target->device->facts());
    if (!peaks) continue;
    for (auto& shape : shapes)
      if (shape.set.applies_to(name))
        if (const auto light = floor_of(*shape.cost, *peaks, task.precision)) shape.floors.push_back({name, *light});
  }
  return shapes;
}

Result<Admission> admission_of(const Task& task, const TargetResources& context) {
  if (task.graph) {
    KERF_TRY(const auto reference, oracle::make_graph_reference(task));
    return admit(task, *reference);
  }
  KERF_TRY(const Target cpp, make_target(cpp_reference_target(), context));
  KERF_TRY(const auto reference, make_cpp_reference(task, *cpp.language, *cpp.device));
  return admit(task, *reference);
}

Json tensors_json(const std::vector<ir::TensorType>& tensors) {
  Json list = Json::array();
  for (const auto& tensor : tensors)
    list.push_back({{"name", tensor.name}, {"dtype", dtype_name(tensor.dtype)}, {"shape", to_string(tensor.shape)}});
  return list;
}

Json import_json(const pytorch::ImportedModel& model) {
  Json json{{"python", model.python},   {"torch", model.torch}, {"training", model.training},
            {"dropped", model.dropped}, {"notes", model.notes}, {"share", model.share}};
  json["uncovered"] = Json::array();
  for (const auto& one : model.missing)
    json["uncovered"].push_back(
        {{"operator", one.name}, {"module", one.module}, {"line", one.line}, {"count", one.count}});
  return json;
}

/// The task, and how it was imported when it was.
Result<TaskText> read_for_check(const std::string& path, const std::string& target, const Environment& environment,
                                std::optional<pytorch::ImportedModel>& model) {
  if (!pytorch::is_model_file(path)) return read_checked_task(path, environment);
  KERF_TRY(ModelTask imported, read_model_task(path, environment, target));
  model = std::move(imported.model);
  return std::move(imported.text);
}

Json to_json(const Task& task, const std::vector<ShapeFacts>& shapes, const Admission& admission,
             const std::optional<pytorch::ImportedModel>& model) {
  Json json{{"schema", 1},
            {"task", task.name},
            {"task_id", task.id},
            {"description", task.description},
            {"precision", precision_name(task.precision)},
            {"inputs", tensors_json(task.inputs)},
            {"outputs", tensors_json(task.outputs)}};
  json["shapes"] = Json::array();
  for (const auto& shape : shapes) {
    Json entry{{"name", shape.set.name},
               {"symbols", Json::object()},
               {"weight", shape.set.weight},
               {"targets", shape.set.targets},
               {"bytes", shape.bytes}};
    for (const auto& [name, value] : shape.set.symbols) entry["symbols"][name] = value;
    if (shape.cost)
      entry["cost"] = {{"bytes_read", shape.cost->bytes_read},   {"bytes_written", shape.cost->bytes_written},
                       {"fma_flops", shape.cost->fma_flops},     {"other_flops", shape.cost->other_flops},
                       {"special_ops", shape.cost->special_ops}, {"fma_avoidable", shape.cost->fma_avoidable}};
    else
      entry["cost"] = nullptr;
    entry["floors"] = Json::object();
    for (const auto& floor : shape.floors)
      entry["floors"][floor.target] = {{"floor_us", floor.light.floor_us}, {"bound", floor.light.bound}};
    json["shapes"].push_back(std::move(entry));
  }
  if (model) json["import"] = import_json(*model);
  json["admission"] = {{"admitted", admission.admitted},
                       {"reason", admission.reason},
                       {"tried", admission.tried},
                       {"cancels_out", admission.idle},
                       {"notes", admission.notes}};
  return json;
}

std::string shapes_table(const std::vector<ShapeFacts>& shapes, const Style& style) {
  std::vector<std::vector<Cell>> rows{
      {{"shape"}, folding("symbols"), folding("used for"), {"moves"}, {"computes"}, folding("floor")}};
  for (const auto& shape : shapes) {
    std::string use = shape.set.weight > 0 ? "timing" : "checking";
    if (!shape.set.targets.empty()) use += " on " + join(shape.set.targets, ", ");
    std::vector<std::string> floors;
    for (const auto& floor : shape.floors)
      floors.push_back(fmt::format("{}: {} ({})", floor.target, format_us(floor.light.floor_us), floor.light.bound));
    const double moved = shape.cost ? shape.cost->bytes_read + shape.cost->bytes_written : shape.bytes;
    rows.push_back(
        {{shape.set.name, Colour::bold},
         {symbols_text(shape.set.symbols)},
         {use},
         {format_bytes(moved), Colour::none, true},
         {shape.cost ? format_flops(shape.cost->fma_flops + shape.cost->other_flops + shape.cost->special_ops) : "?",
          Colour::none, true},
         {floors.empty() ? "-" : join(floors, "; "), floors.empty() ? Colour::dim : Colour::none}});
  }
  return table(rows, style);
}

void print(const Task& task, const std::vector<ShapeFacts>& shapes, const Admission& admission, Console& console) {
  const Style& style = console.out_style;
  auto& out = console.out;
  out << paint(task.name, Colour::bold, style) << "  " << one_line(task.description) << "\n";
  out << fitted(fmt::format("  inputs     {}\n", tensors_text(task.inputs)), style)
      << fitted(fmt::format("  outputs    {}\n", tensors_text(task.outputs)), style)
      << fmt::format("  precision  {}\n  id         {}\n\n", precision_name(task.precision), task.id.substr(0, 16));
  out << shapes_table(shapes, style);
  const double memory = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  for (const ShapeFacts& shape : shapes)
    if (memory > 0 && shape.bytes > memory)
      out << paint(fmt::format("shape set '{}' takes {}; this machine has {} of memory\n", one_line(shape.set.name),
                               format_bytes(shape.bytes), format_bytes(memory)),
                   Colour::yellow, style);
  if (std::all_of(shapes.begin(), shapes.end(), [](const ShapeFacts& s) { return s.floors.empty(); }))
    out << remark(
        "No floors: they are shown for devices that are here, that a shape is for, and whose peaks are known ('kerf "
        "doctor --calibrate' measures them once).\n",
        style);
  if (admission.admitted)
    out << "\n"
        << fitted(fmt::format("{}: trivial candidates fail as they must ({})\n",
                              paint("admitted", Colour::green, style), first_few(admission.tried)),
                  style);
  for (const std::string& note : admission.notes) out << remark("note: " + note + "\n", style);
  if (!admission.idle.empty())
    out << fitted(fmt::format("what cancels out, so that kernels may leave it out: {}\n", join(admission.idle, ", ")),
                  style);
  out << std::flush;
}

}  // namespace

Status check(const CheckOptions& options, const Environment& environment, Console& console) {
  if (!options.target.empty()) KERF_TRY_VOID(check_target_name(options.target));
  if (options.tasks.size() > 1) return check_many(options, environment, console);
  const std::string& path = options.tasks.front();
  std::optional<pytorch::ImportedModel> model;
  KERF_TRY(const TaskText text, read_for_check(path, options.target, environment, model));
  if (options.print_task) {
    console.out << text.source << std::flush;
    return {};
  }
  const Task& task = text.task;
  if (model && !options.json) console.out << import_text(*model, console.out_style) << "\n";
  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, 1);
  KERF_TRY(const auto shapes, gather(task, environment, context));
  KERF_TRY(const Admission admission, admission_of(task, context));
  if (options.json)
    console.out << to_json(task, shapes, admission, model).dump(2, ' ', false, Json::error_handler_t::replace)
                << std::endl;
  else
    print(task, shapes, admission, console);
  if (!admission.admitted)
    return fail(Errc::invalid_input, fmt::format("{}: the task is refused: {}", path, admission.reason));
  return {};
}

}  // namespace kerf::cli
