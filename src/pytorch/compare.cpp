#include "pytorch/compare.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "pytorch/bridge.hpp"
#include "pytorch/bridge_server.hpp"

namespace kerf::pytorch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

double seconds(std::chrono::milliseconds time) { return static_cast<double>(time.count()) / 1000; }

Result<BridgeQuestion> question_of(const CompareRequest& request) {
  std::error_code error;
  std::vector<fs::path> files{request.model};
  if (request.wait_for.empty()) files.push_back(request.kernel);
  for (const fs::path& file : files)
    if (!fs::is_regular_file(file, error))
      return fail(Errc::invalid_input, fmt::format("there is no file '{}' to compare", file.string()));
  const std::int64_t memory = request.memory_bytes > 0 ? request.memory_bytes : machine_memory();
  const auto absolute = [](const fs::path& path) { return path.empty() ? "" : fs::absolute(path).string(); };
  const Json asked{{"do", "compare"},
                   {"model", absolute(request.model)},
                   {"kernel", absolute(request.kernel)},
                   {"wait_for", absolute(request.wait_for)},
                   {"device", request.device},
                   {"seed", request.seed},
                   {"draws", request.draws},
                   {"compile", request.compile},
                   {"threads", request.threads},
                   {"timing_s", seconds(request.timing)},
                   {"compile_limit_s", seconds(request.compile_limit)},
                   {"time_limit_s", seconds(request.time_limit)},
                   {"memory_bytes", memory}};
  BridgeQuestion question;
  question.request = asked.dump(-1, ' ', false, Json::error_handler_t::replace);
  question.time_limit = request.time_limit + request.wait_limit;
  return question;  // its address space is limited by the bridge: a GPU's driver maps more than there is
}

/// How the process ended, in words.
std::string end_words(const ProcessOutcome& outcome, const CompareRequest& request) {
  if (outcome.timed_out) return fmt::format("it took more than {} s and was ended", seconds(request.time_limit));
  const std::string said = std::string(trim(printable(outcome.err)));
  const std::string last = said.size() > 400 ? "..." + said.substr(said.size() - 400) : said;
  return (outcome.signal != 0 ? fmt::format("Python was ended by signal {}", outcome.signal)
                              : fmt::format("Python ended with exit code {}", outcome.exit_code)) +
         (last.empty() ? "" : ": " + last);
}

/// What was under way when the process ended is what failed.
void blame(Comparison& comparison, const std::string& stage, const ProcessOutcome& outcome, const std::string& words) {
  const ProgramStatus status = outcome.timed_out ? ProgramStatus::timed_out : ProgramStatus::crashed;
  Program& guilty = stage == "load" || stage.empty() ? comparison.eager
                    : stage == "compile"             ? comparison.compiled
                                                     : comparison.kernel;
  if (!guilty.times || stage == "compile") {
    guilty.status = status;
    guilty.message = words;
  }
  if (&guilty == &comparison.eager)
    comparison.kernel = {ProgramStatus::not_asked, "the original did not run", {}, {}, 0};
  comparison.complete = false;
  comparison.notes.push_back(fmt::format("the comparison did not end: {}", words));
}

/// The bridge refused the question: the model file is wrong, or the device is not there.
Error refusal_of(const Json& answer, const CompareRequest& request) {
  const std::string kind = answer.value("kind", ""), message = printable(answer.value("message", "no message"));
  if (kind == "device") return {Errc::unavailable, message};
  const auto line = answer.find("line");
  const std::int64_t number = line != answer.end() && line->is_number_integer() ? line->get<std::int64_t>() : 0;
  const std::string file = request.model.string();
  return {Errc::invalid_input, number > 0 ? fmt::format("{}:{}: {}", file, number, message) : file + ": " + message};
}

Result<Comparison> compare_over(Bridge& bridge, const CompareRequest& request) {
  KERF_TRY(const BridgeQuestion question, question_of(request));
  KERF_TRY(const BridgeAnswer given, bridge.ask(question));
  const Json answer = Json::parse(given.text, nullptr, false);
  const std::string words = end_words(given.outcome, request);
  if (!answer.is_object()) {
    Comparison nothing;
    nothing.device = request.device;
    nothing.seed = request.seed;
    nothing.python = given.python;
    blame(nothing, "", given.outcome, words);
    return nothing;
  }
  if (const auto ok = answer.find("ok"); ok == answer.end() || *ok != true)
    return tl::unexpected<Error>(refusal_of(answer, request));
  KERF_TRY(Comparison comparison, comparison_from_json(given.text));
  comparison.python = given.python;
  if (!comparison.complete) blame(comparison, answer.value("stage", ""), given.outcome, words);
  return comparison;
}

std::string time_words(double us) {
  if (us < 1000) return fmt::format("{:.3g} us", us);
  return us < 1e6 ? fmt::format("{:.3g} ms", us / 1e3) : fmt::format("{:.3g} s", us / 1e6);
}

std::string ratio_words(const Ratio& ratio) {
  return fmt::format("{:.2f}x ({:.2f} to {:.2f})", ratio.ratio, ratio.interval.low, ratio.interval.high);
}

/// "eager 1.23 ms", "torch.compile failed".
std::string program_words(const std::string& name, const Program& program) {
  if (program.times) return name + " " + time_words(program.times->median_us);
  switch (program.status) {
    case ProgramStatus::not_asked: return "";
    case ProgramStatus::unavailable: return "no " + name;
    case ProgramStatus::out_of_memory: return name + " out of memory";
    case ProgramStatus::timed_out: return name + " timed out";
    case ProgramStatus::crashed: return name + " crashed";
    default: return name + " failed";
  }
}

/// "2.11.0a0+git" is "2.11".
std::string short_version(const std::string& torch) {
  const std::size_t first = torch.find('.'), second = torch.find('.', first == std::string::npos ? first : first + 1);
  return second == std::string::npos ? torch : torch.substr(0, second);
}

std::string first_line(const Comparison& comparison) {
  std::vector<std::string> times;
  for (const auto& [name, program] : {std::pair<std::string, const Program*>{"eager", &comparison.eager},
                                      {"torch.compile", &comparison.compiled},
                                      {"this kernel", &comparison.kernel}})
    if (std::string words = program_words(name, *program); !words.empty()) times.push_back(std::move(words));
  std::string line = fmt::format("PyTorch {} {}", short_version(comparison.torch), join(times, ", "));
  if (comparison.over_eager) line += ": " + ratio_words(*comparison.over_eager);
  if (comparison.over_compiled) line += " and " + ratio_words(*comparison.over_compiled);
  return line;
}

std::string verdict_words(const Comparison& comparison) {
  const KernelBenchVerdict& verdict = comparison.kernelbench;
  if (!verdict.decided) return "";
  std::string words = verdict.correct
                          ? fmt::format("right by KernelBench's rule on {} draws (largest difference {:.2g})",
                                        verdict.draws, verdict.worst)
                          : fmt::format("not right by KernelBench's rule ({} of {} draws): {}", verdict.passed,
                                        verdict.draws, verdict.problem);
  if (comparison.kernel.errors && comparison.eager.errors)
    words += fmt::format("; error against f64 {:.2g}, PyTorch's {:.2g}{}", comparison.kernel.errors->rms,
                         comparison.eager.errors->rms,
                         comparison.accuracy_class == "undecided" ? "" : " (" + comparison.accuracy_class + ")");
  return words;
}

}  // namespace

bool usable(const Comparison& comparison) {
  return comparison.kernel.status == ProgramStatus::measured && comparison.over_eager.has_value();
}

std::vector<std::string> in_words(const Comparison& comparison) {
  std::vector<std::string> lines{first_line(comparison)};
  if (std::string words = verdict_words(comparison); !words.empty()) lines.push_back(std::move(words));
  for (const auto& [name, program] : {std::pair<const char*, const Program*>{"eager PyTorch", &comparison.eager},
                                      {"torch.compile", &comparison.compiled},
                                      {"the kernel", &comparison.kernel}})
    if (!program->message.empty() && program->status != ProgramStatus::measured &&
        program->status != ProgramStatus::unavailable)
      lines.push_back(fmt::format("{}: {}", name, program->message.substr(0, program->message.find('\n'))));
  std::vector<std::string> kinds;
  for (const WeakOutput& weak : comparison.weak)
    kinds.push_back(weak.output.empty() ? weak.kind : fmt::format("{} (output {})", weak.kind, weak.output));
  if (!kinds.empty())
    lines.push_back(fmt::format("the file's inputs do not tell right from wrong: {} would pass{}", join(kinds, ", "),
                                !comparison.hard_inputs   ? ""
                                : *comparison.hard_inputs ? "; right on inputs of both signs too"
                                                          : "; NOT right on inputs of both signs"));
  lines.insert(lines.end(), comparison.notes.begin(), comparison.notes.end());
  return lines;
}

Status begin_comparison(const fs::path& wait_for, const fs::path& kernel, std::chrono::milliseconds timing,
                        std::chrono::milliseconds time_limit) {
  const Json told{
      {"kernel", fs::absolute(kernel).string()}, {"timing_s", seconds(timing)}, {"time_limit_s", seconds(time_limit)}};
  return write_file_atomic(wait_for, told.dump(-1, ' ', false, Json::error_handler_t::replace));
}

Result<Comparison> compare_with_pytorch(const CompareRequest& request, Sandbox& sandbox) {
  return compare_over(*make_bridge(request.environment, sandbox), request);
}

Result<Comparison> compare_with_pytorch(const CompareRequest& request, BridgeServer& server) {
  return compare_over(server, request);
}

}  // namespace kerf::pytorch
