// The stored form of a comparison, which is also what the bridge answers. Schema 1.

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "pytorch/compare.hpp"

namespace kerf::pytorch {
namespace {

using Stored = nlohmann::ordered_json;
constexpr int kSchema = 1;

constexpr std::pair<ProgramStatus, std::string_view> kStatusNames[] = {{ProgramStatus::measured, "measured"},
                                                                       {ProgramStatus::not_asked, "not_asked"},
                                                                       {ProgramStatus::unavailable, "unavailable"},
                                                                       {ProgramStatus::failed, "failed"},
                                                                       {ProgramStatus::wrong, "wrong"},
                                                                       {ProgramStatus::out_of_memory, "out_of_memory"},
                                                                       {ProgramStatus::timed_out, "timed_out"},
                                                                       {ProgramStatus::crashed, "crashed"}};

Stored interval_json(const Interval& interval) { return Stored::array({interval.low, interval.high}); }

template <class T, class Write>
Stored optional_json(const std::optional<T>& value, Write write) {
  return value ? write(*value) : Stored();
}

Stored ratio_json(const std::optional<Ratio>& ratio) {
  return optional_json(
      ratio, [](const Ratio& one) { return Stored{{"ratio", one.ratio}, {"interval", interval_json(one.interval)}}; });
}

Stored program_json(const Program& program) {
  return {{"status", name_of(program.status)},
          {"message", program.message},
          {"prepare_seconds", program.prepare_seconds},
          {"times", optional_json(program.times,
                                  [](const Times& times) {
                                    return Stored{{"median_us", times.median_us},
                                                  {"interval_us", interval_json(times.interval_us)},
                                                  {"samples", times.samples}};
                                  })},
          {"errors", optional_json(program.errors, [](const Errors& errors) {
             return Stored{{"rms", errors.rms}, {"worst", errors.worst}};
           })}};
}

/// Fields of an object that may lack any of them, or hold something else there.
class Fields {
 public:
  explicit Fields(const Stored& json) : json_(json) {}
  const Stored* object(const char* key) const {
    const auto found = json_.is_object() ? json_.find(key) : json_.end();
    return found != json_.end() && found->is_object() ? &*found : nullptr;
  }
  std::string text(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && found->is_string() ? printable(found->get<std::string>()) : "";
  }
  /// A number that is not finite is stored as null.
  double number(const char* key, double when_null = 0) const {
    const auto found = json_.find(key);
    if (found == json_.end()) return 0;
    return found->is_number() ? found->get<double>() : when_null;
  }
  bool flag(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && found->is_boolean() && found->get<bool>();
  }
  std::optional<bool> maybe(const char* key) const {
    const auto found = json_.find(key);
    return found != json_.end() && found->is_boolean() ? std::optional(found->get<bool>()) : std::nullopt;
  }
  Interval interval(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end() || !found->is_array() || found->size() != 2) return {};
    if (!(*found)[0].is_number() || !(*found)[1].is_number()) return {};
    return {(*found)[0].get<double>(), (*found)[1].get<double>()};
  }
  const Stored& list(const char* key) const {
    static const Stored none = Stored::array();
    const auto found = json_.find(key);
    return found != json_.end() && found->is_array() ? *found : none;
  }

 private:
  const Stored& json_;
};

std::optional<Ratio> ratio_of(const Fields& fields, const char* key) {
  const Stored* found = fields.object(key);
  if (found == nullptr) return std::nullopt;
  const Fields ratio(*found);
  return Ratio{ratio.number("ratio"), ratio.interval("interval")};
}

Result<Program> program_of(const Fields& fields, const char* key) {
  const Stored* found = fields.object(key);
  if (found == nullptr) return fail(Errc::invalid_input, fmt::format("a comparison without '{}'", key));
  const Fields given(*found);
  Program program;
  const std::string status = given.text("status");
  const auto* name = std::find_if(std::begin(kStatusNames), std::end(kStatusNames),
                                  [&](const auto& entry) { return entry.second == status; });
  if (name == std::end(kStatusNames))
    return fail(Errc::invalid_input, fmt::format("a comparison with the unknown status '{}'", status));
  program.status = name->first;
  program.message = given.text("message");
  program.prepare_seconds = given.number("prepare_seconds");
  if (const Stored* times = given.object("times")) {
    const Fields taken(*times);
    program.times =
        Times{taken.number("median_us"), taken.interval("interval_us"), static_cast<int>(taken.number("samples"))};
  }
  if (const Stored* errors = given.object("errors")) {
    const double infinite = std::numeric_limits<double>::infinity();
    program.errors = Errors{Fields(*errors).number("rms", infinite), Fields(*errors).number("worst", infinite)};
  }
  return program;
}

KernelBenchVerdict verdict_of(const Fields& fields) {
  const Stored* found = fields.object("kernelbench");
  if (found == nullptr) return {};
  const Fields given(*found);
  return {given.flag("decided"),
          given.flag("correct"),
          static_cast<int>(given.number("draws")),
          static_cast<int>(given.number("passed")),
          given.number("tolerance"),
          given.number("worst", std::numeric_limits<double>::infinity()),
          given.text("problem")};
}

}  // namespace

std::string_view name_of(ProgramStatus status) {
  for (const auto& [value, name] : kStatusNames)
    if (value == status) return name;
  return "";
}

std::string to_json(const Comparison& comparison) {
  Stored json{{"schema", kSchema}, {"ok", true}, {"complete", comparison.complete}};
  json["torch"] = comparison.torch;
  json["python"] = comparison.python;
  json["device"] = comparison.device;
  json["device_name"] = comparison.device_name;
  json["seed"] = comparison.seed;
  json["eager"] = program_json(comparison.eager);
  json["compiled"] = program_json(comparison.compiled);
  json["kernel"] = program_json(comparison.kernel);
  json["over_eager"] = ratio_json(comparison.over_eager);
  json["over_compiled"] = ratio_json(comparison.over_compiled);
  json["compiled_over_eager"] = ratio_json(comparison.compiled_over_eager);
  const KernelBenchVerdict& verdict = comparison.kernelbench;
  json["kernelbench"] = {{"decided", verdict.decided}, {"correct", verdict.correct}, {"draws", verdict.draws},
                         {"passed", verdict.passed},   {"worst", verdict.worst},     {"tolerance", verdict.tolerance},
                         {"problem", verdict.problem}};
  json["accuracy_class"] = comparison.accuracy_class;
  json["class_evidence"] = comparison.class_evidence;
  const auto flag = [](bool value) { return Stored(value); };
  json["in_class"] = optional_json(comparison.in_class, flag);
  json["double_precision"] = comparison.double_precision;
  json["weak"] = Stored::array();
  for (const WeakOutput& weak : comparison.weak) json["weak"].push_back({{"kind", weak.kind}, {"output", weak.output}});
  json["hard_inputs"] = optional_json(comparison.hard_inputs, flag);
  json["notes"] = comparison.notes;
  return json.dump(-1, ' ', false, Stored::error_handler_t::replace);
}

Result<Comparison> comparison_from_json(const std::string& text) {
  const Stored json = Stored::parse(text, nullptr, false);
  if (!json.is_object()) return fail(Errc::invalid_input, "a comparison that is no JSON object");
  const Fields fields(json);
  if (fields.number("schema") != kSchema)
    return fail(Errc::invalid_input, "a comparison of another schema: it was made by another version of Kerf");
  Comparison comparison;
  KERF_TRY(comparison.eager, program_of(fields, "eager"));
  KERF_TRY(comparison.compiled, program_of(fields, "compiled"));
  KERF_TRY(comparison.kernel, program_of(fields, "kernel"));
  comparison.over_eager = ratio_of(fields, "over_eager");
  comparison.over_compiled = ratio_of(fields, "over_compiled");
  comparison.compiled_over_eager = ratio_of(fields, "compiled_over_eager");
  comparison.kernelbench = verdict_of(fields);
  comparison.accuracy_class = fields.text("accuracy_class");
  comparison.class_evidence = fields.text("class_evidence");
  comparison.in_class = fields.maybe("in_class");
  comparison.double_precision = fields.text("double_precision");
  for (const Stored& weak : fields.list("weak"))
    if (weak.is_object()) comparison.weak.push_back({Fields(weak).text("kind"), Fields(weak).text("output")});
  comparison.hard_inputs = fields.maybe("hard_inputs");
  for (const Stored& note : fields.list("notes"))
    if (note.is_string()) comparison.notes.push_back(printable(note.get<std::string>()));
  comparison.torch = fields.text("torch");
  comparison.python = fields.text("python");
  comparison.device = fields.text("device");
  comparison.device_name = fields.text("device_name");
  comparison.seed = static_cast<std::uint64_t>(fields.number("seed"));
  comparison.complete = fields.flag("complete");
  return comparison;
}

}  // namespace kerf::pytorch
