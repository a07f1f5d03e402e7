#include "app/cli/doctor_models.hpp"

#include <fmt/format.h>

#include <atomic>
#include <chrono>

#include "base/clock.hpp"
#include "llm/client.hpp"

namespace kerf::cli {
namespace {

/// A model that says too much, or nothing, can be asked all the same.
bool reached(llm::FailureKind kind) {
  return kind == llm::FailureKind::truncated || kind == llm::FailureKind::empty || kind == llm::FailureKind::refused;
}

ModelFinding try_model(const llm::ModelSpec& spec, const MindAccess& access, llm::HttpTransport& transport) {
  ModelFinding finding{spec.name, spec.base_url, false, ""};
  SystemClock clock;
  llm::Budget budget({0, 0});
  llm::ClientTools tools{transport, budget, clock, llm::real_sleep()};
  tools.retry.attempts = 1;
  tools.http.first_byte = std::chrono::seconds(60);
  tools.http.total = std::chrono::seconds(120);
  const auto own = access.keys.find(spec.name);
  auto client = llm::make_chat_client(spec, own == access.keys.end() ? access.key : own->second, tools);
  if (!client) {
    finding.words = client.error().message;
    return finding;
  }
  const std::atomic<bool> never{false};
  const auto outcome = (*client)->ask({{{"user", "Reply with the word ready."}}, 256}, never);
  const auto* failed = std::get_if<llm::ChatFailure>(&outcome);
  finding.answers = failed == nullptr || reached(failed->kind);
  const double seconds = std::visit([](const auto& one) { return one.seconds; }, outcome);
  finding.words = finding.answers ? fmt::format("answers in {:.1f} s", seconds) : failed->message;
  return finding;
}

}  // namespace

Result<ModelSurvey> survey_models(const MindOptions& options, const Environment& environment) {
  ModelSurvey survey;
  MindConfig minds;
  MindOptions chosen = options;
  if (!options.models.empty() || !options.models_file.empty()) chosen.minds = kLlmMind;
  KERF_TRY_VOID(overlay_minds(chosen, minds));
  KERF_TRY(const MindAccess access, mind_access(chosen, minds, environment));
  auto transport = llm::open_curl_transport();
  if (!transport) {
    survey.library = transport.error().message;
    return survey;
  }
  for (const llm::ModelSpec& spec : minds.models) survey.models.push_back(try_model(spec, access, **transport));
  return survey;
}

}  // namespace kerf::cli
