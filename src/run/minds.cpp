#include "run/minds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/memory.hpp"
#include "base/text.hpp"
#include "codegen/dialect.hpp"
#include "judge/shape_context.hpp"
#include "measure/peaks.hpp"
#include "propose/agents/command_mind.hpp"
#include "propose/agents/llm_mind.hpp"
#include "propose/agents/prompt_evolution.hpp"
#include "run/mind_list.hpp"
#include "run/own_kernels.hpp"
#include "run/remembering.hpp"
#include "run/run_skills.hpp"
#include "search/asking.hpp"

namespace kerf {
namespace {

/// "extern "C" void kerf_kernel(const float* x, float* y)".
std::string entry_of(const Task& task, const codegen::DialectTraits& dialect) {
  std::vector<std::string> arguments;
  for (const ir::TensorType& input : task.inputs)
    arguments.push_back(fmt::format("const {}* {}", codegen::memory_type(dialect, input.dtype), input.name));
  for (const ir::TensorType& output : task.outputs)
    arguments.push_back(fmt::format("{}* {}", codegen::memory_type(dialect, output.dtype), output.name));
  return fmt::format("extern \"C\" void kerf_kernel({})", join(arguments, ", "));
}

std::vector<std::string> facts_of(const Target& target, const DeviceFacts& device, const std::filesystem::path& peaks) {
  std::vector<std::string> facts = {fmt::format("Language: {}", target.language->version()),
                                    fmt::format("Device: {} ({})", device.name, device.arch)};
  if (device.compute_units > 0) facts.push_back(fmt::format("Compute units or cores: {}", device.compute_units));
  if (device.cache_bytes > 0)
    facts.push_back("Last-level cache: " + bytes_text(static_cast<double>(device.cache_bytes)));
  if (device.memory_bytes > 0) facts.push_back("Memory: " + bytes_text(static_cast<double>(device.memory_bytes)));
  if (device.max_threads_per_block > 0)
    facts.push_back(fmt::format("Work-items per group: at most {}", device.max_threads_per_block));
  if (device.max_shared_bytes > 0)
    facts.push_back("Shared (local) memory per group: at most " +
                    bytes_text(static_cast<double>(device.max_shared_bytes)));
  for (const std::string& one : device.lacks) facts.push_back(fmt::format("Not available: {}", one));
  if (!peaks.empty())
    if (const auto measured = load_peaks(peaks, device))
      for (const auto& [name, rate] : measured->rates)
        facts.push_back(
            fmt::format("Measured peak of {}: {:.4g} {}", name, rate * 1e-9, name == "copy" ? "GB/s" : "GFLOP/s"));
  return facts;
}

agents::PopulationOptions population_options(const MindConfig& config) {
  agents::PopulationOptions options;
  options.rule = config.prompt_rule;
  return options;
}

llm::Secret key_of(const MindAccess& access, const std::string& model) {
  const auto own = access.keys.find(model);
  return own == access.keys.end() ? access.key : own->second;
}

}  // namespace

Result<agents::AgentTask> describe_for_agents(const TaskText& task, TargetSession& session,
                                              const std::filesystem::path& peaks) {
  const Target& target = session.target();
  const codegen::DialectTraits& dialect = target.language->dialect();
  agents::AgentTask described;
  described.name = task.task.name;
  described.source = task.source;
  described.target = target.name;
  described.extension = target_extension(target.name);
  described.fence = described.extension.substr(1);
  described.host_entry = dialect.host_entry;
  described.entry = entry_of(task.task, dialect);
  described.facts = facts_of(target, session.facts(), peaks);
  KERF_TRY(described.example, naive_source(task.task, target));
  return described;
}

Minds::Minds(const MindConfig& config)
    : budget_(config.budget), prompts_(agents::seed_sections(), population_options(config)) {}

Result<std::unique_ptr<Proposer>> Minds::llm_mind(const MindConfig& config, const MindAccess& access,
                                                  agents::AgentTask task, Clock& clock, std::uint64_t seed) {
  const bool replaying = !access.replay_chats.empty();
  if (replaying) {
    KERF_TRY(recording_, llm::load_chat_recording(access.replay_chats));
  } else {
    KERF_TRY(transport_, llm::open_curl_transport());
  }
  if (!access.record_chats.empty()) {
    KERF_TRY(recorder_, llm::open_chat_recorder(access.record_chats));
  }
  std::vector<agents::EnsembleModel> models;
  for (const llm::ModelSpec& spec : config.models) {
    std::unique_ptr<llm::ChatModel> model;
    if (replaying) {
      model = llm::make_replaying_model(spec.name, *recording_, llm::ChatRecording::Match::in_order);
    } else {
      llm::ClientTools tools{*transport_, budget_, clock, llm::real_sleep()};
      tools.seed = seed;
      KERF_TRY(model, llm::make_chat_client(spec, key_of(access, spec.name), tools));
    }
    if (recorder_) model = llm::make_recording_model(std::move(model), *recorder_);
    models.push_back({std::move(model), spec});
  }
  return agents::make_llm_mind(std::move(task), std::move(models),
                               {budget_, prompts_, access.context, access.skills, access.family});
}

/// What minds are made from.
struct MindParts {
  Minds& all;  ///< keeps what a mind borrows
  const MindConfig& config;
  const MindAccess& access;
  const TaskText& task;
  const BuiltinInputs& builtin;
  TargetSession& session;
  const std::filesystem::path& peaks;
  std::uint64_t seed = 0;
};

struct MindMakers {
  static Result<std::unique_ptr<Proposer>> builtin(const MindParts& parts) {
    parts.all.minds_.push_back(make_skill_mind(parts.builtin.hinted));
    return synth::make_builtin_proposer(parts.builtin.synthesiser, foreseen_cell, parts.builtin.remembered.advice);
  }
  static Result<std::unique_ptr<Proposer>> llm(const MindParts& parts) {
    KERF_TRY(agents::AgentTask task, describe_for_agents(parts.task, parts.session, parts.peaks));
    return parts.all.llm_mind(parts.config, parts.access, std::move(task), parts.session.clock(), parts.seed);
  }
  static Result<std::unique_ptr<Proposer>> command(const MindParts& parts) {
    KERF_TRY(agents::AgentTask task, describe_for_agents(parts.task, parts.session, parts.peaks));
    return agents::make_command_mind(std::move(task),
                                     {parts.config.command, parts.config.command_seconds, parts.access.environment,
                                      parts.access.context, parts.access.skills});
  }
};

std::span<const MindEntry> all_minds() {
  static constexpr MindEntry kMinds[] = {
      {kBuiltinMind, false, MindMakers::builtin},
      {kLlmMind, true, MindMakers::llm},
      {kCommandMind, true, MindMakers::command},
  };
  return kMinds;
}

const MindEntry& mind_entry(std::string_view name) {
  const auto found = std::ranges::find(all_minds(), name, &MindEntry::name);
  KERF_CHECK(found != all_minds().end(), "names of minds are checked where they are read");
  return *found;
}

Result<std::unique_ptr<Minds>> Minds::open(const MindConfig& config, const MindAccess& access, const TaskText& task,
                                           std::vector<Candidate> own, const BuiltinInputs& builtin,
                                           TargetSession& session, const std::filesystem::path& peaks,
                                           std::uint64_t seed) {
  KERF_TRY_VOID(check_minds(config));
  std::unique_ptr<Minds> made(new Minds(config));
  made->minds_.push_back(make_own_kernels(std::move(own)));
  made->minds_.push_back(make_remembered(remembered_kernels(builtin.remembered, builtin.synthesiser.get())));
  for (const std::string& name : config.names) {
    KERF_TRY(std::unique_ptr<Proposer> mind,
             mind_entry(name).make({*made, config, access, task, builtin, session, peaks, seed}));
    made->minds_.push_back(std::move(mind));
  }
  return made;
}

std::vector<Proposer*> Minds::proposers() const {
  std::vector<Proposer*> all;
  for (const auto& mind : minds_) all.push_back(mind.get());
  return all;
}

llm::Usage spent_on_models(const std::vector<Step>& steps, const std::string& kept) {
  llm::Usage before;
  for (const Step& step : steps)
    before += {step.provenance.prompt_tokens, step.provenance.reply_tokens, 0, step.provenance.cost_usd, false};
  const auto json = nlohmann::json::parse(kept, nullptr, false);
  if (json.is_object()) {
    before.prompt_tokens = std::max(before.prompt_tokens, json.value("prompt_tokens", std::int64_t{0}));
    before.reply_tokens = std::max(before.reply_tokens, json.value("reply_tokens", std::int64_t{0}));
    before.cost_usd = std::max(before.cost_usd, json.value("cost_usd", 0.0));
  }
  return before;
}

void Minds::add_spent(const std::vector<Step>& steps, const std::string& kept) {
  budget_.add_spent(spent_on_models(steps, kept));
}

std::string Minds::spent_text() const {
  const llm::Usage spent = budget_.spent();
  if (spent.tokens() == 0) return "";
  return nlohmann::json{
      {"prompt_tokens", spent.prompt_tokens}, {"reply_tokens", spent.reply_tokens}, {"cost_usd", spent.cost_usd}}
      .dump();
}

}  // namespace kerf
