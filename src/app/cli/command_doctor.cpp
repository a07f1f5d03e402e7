#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/cli/commands.hpp"
#include "app/cli/doctor_models.hpp"
#include "app/cli/host_load.hpp"
#include "base/parallel.hpp"
#include "base/text.hpp"
#include "base/version.hpp"
#include "measure/calibrate.hpp"
#include "measure/peaks.hpp"

namespace kerf::cli {
namespace {

using Json = nlohmann::ordered_json;

/// A target that could be started.
struct Ready {
  std::string target;
  DeviceFacts facts;
  std::string language;
  std::optional<Peaks> peaks;
};

/// What is wrong with a target that could not.
struct Absent {
  std::string target;
  std::string reason;
};

struct Survey {
  std::vector<Finding> findings;
  std::vector<Ready> ready;
  std::vector<Absent> absent;
  std::vector<Error> failures;  ///< calibrations that failed (other targets keep theirs), models that do not answer
  SandboxAbilities sandbox;
  ModelSurvey models{};
  bool calibrated = false;  ///< peaks were to be measured; `failures` says which were not
};

/// Peaks of a busy host come out too low, and honest kernels would then be faster than its floor.
/// The share of the cores in use as soon as it is low, or after some seconds: what Kerf itself has just ended may still
/// be tidying up.
std::optional<double> settled_share() {
  constexpr std::chrono::milliseconds kLong{250};  // a false alarm would leave the peaks unmeasured
  auto busy = busy_share(kLong);
  for (int again = 0; again < 16 && busy && *busy > kQuietShare; ++again) busy = busy_share(kLong);
  return busy;
}

/// Measures and keeps the peaks of a target's device.
Result<Peaks> measured_peaks(const Target& target, const Environment& environment) {
  KERF_TRY(Peaks peaks, calibrate(*target.language, *target.device));
  KERF_TRY_VOID(save_peaks(environment.cache, target.device->facts(), peaks));
  return peaks;
}

Result<Survey> survey(const Environment& environment, const TargetResources& context, bool calibrating,
                      Console& console) {
  Survey result{diagnose(context), {}, {}, {}, sandbox_abilities()};
  result.calibrated = calibrating;
  for (const auto& name : target_names()) {
    auto target = make_target(name, context);
    if (!target) {
      result.absent.push_back({name, target.error().message});
      continue;
    }
    Ready ready{name, target->device->facts(), target->language->version(), std::nullopt};
    if (calibrating) {
      console.err << fmt::format("calibrating {} ({}) ...\n", name, printable(ready.facts.name)) << std::flush;
      if (environment.cache.empty())
        return fail(Errc::invalid_input, "there is no folder to keep peaks in; set KERF_CACHE or HOME");
      const auto busy = ready.facts.runs_on_host ? settled_share() : std::nullopt;
      if (busy && *busy > kQuietShare) {
        result.failures.push_back(
            {Errc::cancelled,
             fmt::format(
                 "{}: peaks were not measured: other programs use {:.0f} % of the cores, so they would come out "
                 "too low; run this again when those are done",
                 name, 100 * *busy)});
        ready.peaks = load_peaks(environment.cache, ready.facts);
      } else {
        const auto peaks = measured_peaks(*target, environment);
        if (peaks)
          ready.peaks = *peaks;
        else
          result.failures.push_back(peaks.error());
      }
    } else if (!environment.cache.empty()) {
      ready.peaks = load_peaks(environment.cache, ready.facts);
    }
    result.ready.push_back(std::move(ready));
  }
  return result;
}

/// "copy 4.30 TB/s", "fma_f32 52.1 TFLOP/s".
std::string rate_text(const std::string& peak, double rate) {
  const std::string unit = peak == "copy" ? "B/s" : "FLOP/s";
  return rate >= 1e12 ? fmt::format("{} {:.2f} T{}", peak, rate / 1e12, unit)
                      : fmt::format("{} {:.1f} G{}", peak, rate / 1e9, unit);
}

void print(const ModelSurvey& survey, Console& console) {
  const Style& style = console.out_style;
  console.out << "\n" << paint("language models", Colour::dim, style) << "\n";
  if (!survey.library.empty()) console.out << "  " << paint(printable(survey.library), Colour::yellow, style) << "\n";
  for (const ModelFinding& finding : survey.models)
    console.out << fmt::format(
        "  {} at {}: {}\n", paint(printable(finding.model), Colour::bold, style), printable(finding.base_url),
        paint(printable(finding.words), finding.answers ? Colour::green : Colour::yellow, style));
  if (survey.library.empty() && survey.models.empty())
    console.out << "  can be asked; to try one: kerf doctor --model NAME --base-url URL\n";
}

void print(const Survey& survey, const Environment& environment, Console& console) {
  const Style& style = console.out_style;
  std::vector<std::vector<Cell>> rows{{{"target"}, {"what"}, folding("found")}};
  for (const auto& finding : survey.findings)
    rows.push_back({{finding.target, Colour::bold},
                    {finding.what},
                    finding.found.empty() ? Cell{"missing", finding.remedy.empty() ? Colour::dim : Colour::yellow}
                                          : Cell{printable(finding.found), Colour::green}});
  console.out << table(rows, style);

  console.out << "\n" << paint("targets", Colour::dim, style) << "\n";
  for (const auto& ready : survey.ready) {
    console.out << "  " << paint(ready.target, Colour::bold, style) << ": "
                << paint(fmt::format("ready on {} ({})", printable(ready.facts.name), ready.facts.id), Colour::green,
                         style)
                << "\n";
    if (ready.peaks) {
      std::string rates;
      for (const auto& [peak, rate] : ready.peaks->rates) rates += (rates.empty() ? "" : ", ") + rate_text(peak, rate);
      console.out << fitted("    measured peaks: " + rates + "\n", style);
    } else if (survey.calibrated) {
      console.out << paint("    peaks not measured\n", Colour::yellow, style);
    } else {
      console.out << paint("    peaks not measured: kerf doctor --calibrate\n", Colour::dim, style);
    }
  }
  for (const auto& absent : survey.absent)
    console.out << fitted(fmt::format("  {}: {}: {}\n", paint(absent.target, Colour::bold, style),
                                      paint("not usable", Colour::yellow, style), printable(absent.reason)),
                          style);

  print(survey.models, console);
  console.out << "\n"
              << paint("sandbox", Colour::dim, style) << "\n"
              << fmt::format(
                     "  landlock {}, seccomp {}, namespaces {}\n",
                     survey.sandbox.landlock_version > 0 ? std::to_string(survey.sandbox.landlock_version) : "absent",
                     survey.sandbox.seccomp ? "yes" : "absent", survey.sandbox.namespaces ? "yes" : "absent");
  for (const auto& missing : survey.sandbox.missing)
    console.out << paint("  " + printable(missing), Colour::yellow, style) << "\n";
  console.out << fmt::format("\ncores {}, cache {}\n", available_cores(),
                             environment.cache.empty() ? "none" : environment.cache.string());

  std::vector<std::string> remedies;
  for (const auto& finding : survey.findings)
    if (!finding.remedy.empty() && std::find(remedies.begin(), remedies.end(), finding.remedy) == remedies.end())
      remedies.push_back(finding.remedy);
  if (!remedies.empty()) console.out << "\n" << paint("to get what is missing", Colour::dim, style) << "\n";
  for (const auto& remedy : remedies) console.out << fitted("  " + printable(remedy) + "\n", style);
  console.out << std::flush;
}

Json to_json(const Survey& survey, const Environment& environment) {
  Json json{
      {"schema", 1}, {"version", kKerfVersion}, {"cores", available_cores()}, {"cache", environment.cache.string()}};
  json["findings"] = Json::array();
  for (const auto& f : survey.findings)
    json["findings"].push_back({{"target", f.target}, {"what", f.what}, {"found", f.found}, {"remedy", f.remedy}});
  json["targets"] = Json::array();
  for (const auto& ready : survey.ready) {
    const auto& facts = ready.facts;
    Json entry{{"target", ready.target},
               {"ready", true},
               {"language", ready.language},
               {"device",
                {{"id", facts.id},
                 {"name", facts.name},
                 {"driver", facts.driver},
                 {"arch", facts.arch},
                 {"compute_units", facts.compute_units},
                 {"memory_bytes", facts.memory_bytes},
                 {"cache_bytes", facts.cache_bytes}}},
               {"peaks", nullptr}};
    if (ready.peaks) entry["peaks"] = Json(ready.peaks->rates);
    json["targets"].push_back(std::move(entry));
  }
  for (const auto& absent : survey.absent)
    json["targets"].push_back({{"target", absent.target}, {"ready", false}, {"reason", absent.reason}});
  json["sandbox"] = {{"landlock", survey.sandbox.landlock_version},
                     {"seccomp", survey.sandbox.seccomp},
                     {"namespaces", survey.sandbox.namespaces},
                     {"missing", survey.sandbox.missing}};
  json["models"] = Json::array();
  for (const ModelFinding& one : survey.models.models)
    json["models"].push_back(
        {{"model", one.model}, {"base_url", one.base_url}, {"answers", one.answers}, {"words", one.words}});
  json["models_missing"] = survey.models.library;
  return json;
}

}  // namespace

Status doctor(const DoctorOptions& options, const Environment& environment, Console& console) {
  const auto sandbox = make_sandbox();
  const TargetResources context = make_context(environment, *sandbox, 1);
  KERF_TRY(ModelSurvey models, survey_models(options.minds, environment));
  KERF_TRY(Survey result, survey(environment, context, options.calibrate, console));
  result.models = std::move(models);
  if (options.json)
    console.out << to_json(result, environment).dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
  else
    print(result, environment, console);
  for (const ModelFinding& one : result.models.models)
    if (!one.answers) result.failures.push_back({Errc::unavailable, fmt::format("{}: {}", one.model, one.words)});
  if (result.failures.empty()) return {};
  std::vector<std::string> messages;
  for (const Error& failure : result.failures) messages.push_back(failure.message);
  return fail(result.failures.front().code, join(messages, "; "));
}

}  // namespace kerf::cli
