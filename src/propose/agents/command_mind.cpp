#include "propose/agents/command_mind.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <utility>

#include "base/file.hpp"
#include "base/text.hpp"
#include "propose/agents/agent_program.hpp"
#include "propose/agents/feedback.hpp"
#include "propose/agents/profile.hpp"
#include "propose/agents/prompt.hpp"

namespace kerf::agents {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kLargestKernel = 4 << 20;  // bytes
constexpr int kMostCommandRepeats = 5;            // known kernels in a row

/// Removed with all that is in it.
class WorkFolder {
 public:
  static Result<WorkFolder> make() {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "kerf-agent-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) return fail(Errc::io, "cannot make a folder for the agent's program");
    return WorkFolder(pattern);
  }
  WorkFolder(WorkFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  WorkFolder& operator=(WorkFolder&&) = delete;
  ~WorkFolder() {
    std::error_code error;
    if (!path_.empty()) fs::remove_all(path_, error);
  }
  const fs::path& path() const { return path_; }

 private:
  explicit WorkFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

/// The file's text; an error in words for whoever wrote the program. Links and devices are not followed.
Result<std::string> read_kernel(const fs::path& file) {
  const std::string name = file.filename().string();
  const int descriptor = ::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return fail(Errc::not_found, fmt::format("the program left no file {}", name));
  struct stat found{};
  std::string text;
  const bool regular = ::fstat(descriptor, &found) == 0 && S_ISREG(found.st_mode);
  if (regular && found.st_size <= kLargestKernel) {
    text.resize(static_cast<std::size_t>(found.st_size));
    std::size_t done = 0;
    for (ssize_t got = 1; got > 0 && done < text.size(); done += static_cast<std::size_t>(std::max<ssize_t>(got, 0)))
      got = ::read(descriptor, text.data() + done, text.size() - done);
    text.resize(done);
  }
  ::close(descriptor);
  if (!regular) return fail(Errc::invalid_input, fmt::format("{} is not a plain file", name));
  if (found.st_size > kLargestKernel)
    return fail(Errc::invalid_input,
                fmt::format("{} has {} bytes; a kernel has at most {}", name, found.st_size, kLargestKernel));
  if (text.empty()) return fail(Errc::invalid_input, fmt::format("{} is empty", name));
  return text;
}

class CommandMind final : public Proposer {
 public:
  CommandMind(AgentTask task, CommandOptions options) : task_(std::move(task)), options_(std::move(options)) {}

  std::string_view name() const override { return kCommandMind; }
  std::vector<OperationInfo> operations() const override { return {{kStartOperation}, {"draft"}, {"refine", true}}; }
  int questions_at_once() const override { return 1; }
  void cancel() override { cancelled_ = true; }
  void observe(const Step& step) override {
    if (step.proposer == kCommandMind) repeats_ = is_duplicate(step) ? repeats_ + 1 : 0;
  }
  Spending spending() const override {
    Spending now;
    if (repeats_ >= kMostCommandRepeats)
      now.used_up = fmt::format("the agent's program repeats itself: {} known kernels in a row", repeats_.load());
    return now;
  }

  Result<std::optional<Proposal>> propose(const ProposalRequest& request) override {
    KERF_TRY(const WorkFolder folder, WorkFolder::make());
    std::vector<ContextItem> known;
    if (options_.context) known = options_.context(request);
    for (ContextItem& item : skills_to_show(options_.skills, request.seed)) known.push_back(std::move(item));
    KERF_TRY(const std::string instructions, furnish(folder.path(), request, known));
    const auto limit = std::chrono::milliseconds(static_cast<std::int64_t>(options_.seconds * 1000));
    KERF_TRY(const ProgramEnd end,
             run_program(options_.command, folder.path(), options_.environment, limit, cancelled_));
    if (end.cancelled) return std::optional<Proposal>{};
    if (end.exit_code == 126 || end.exit_code == 127)
      return fail(Errc::tool_failed, fmt::format("the agent's command cannot be run: {}", end.output));
    auto kernel = read_kernel(folder.path() / kernel_file());
    Proposal proposal;
    proposal.name = request.parent ? fmt::format("agent on step {}", request.parent->step) : "agent";
    proposal.change =
        request.parent ? fmt::format("step {} rewritten by a program", request.parent->step) : "written by a program";
    if (request.parent) proposal.parents = {request.parent->step};
    proposal.source = kernel ? *kernel : end.output;
    if (!kernel) proposal.unreadable = why(end, kernel.error());
    Exchange exchange;
    exchange.role = "policy";
    exchange.model = options_.command;
    exchange.prompt = "agent-" + prompt_version().substr(0, 8);
    exchange.messages = {{"user", instructions}};
    exchange.reply = end.output;
    exchange.outcome = end.timed_out ? "timeout" : kernel ? "reply" : "empty";
    exchange.seconds = end.seconds;
    proposal.provenance.model = options_.command;
    proposal.provenance.prompt = exchange.prompt;
    for (const ContextItem& item : known) proposal.provenance.context.push_back(item.id);
    proposal.provenance.seconds = end.seconds;
    proposal.exchanges.push_back(std::move(exchange));
    return std::optional(std::move(proposal));
  }

 private:
  std::string kernel_file() const { return "kernel" + task_.extension; }

  std::string why(const ProgramEnd& end, const Error& error) const {
    if (end.timed_out) return fmt::format("{} in {:.0f} s", error.message, options_.seconds);
    return end.exit_code == 0 ? error.message
                              : fmt::format("{}; it ended with exit code {}", error.message, end.exit_code);
  }

  Status put(const fs::path& folder, const std::string& name, const KernelRecord& kernel) const {
    KERF_TRY_VOID(write_file_atomic(folder / (name + task_.extension), kernel.source));
    return write_file_atomic(folder / (name + ".md"),
                             describe(kernel.evaluation) + profile_text(kernel, task_.host_entry));
  }

  /// One file an item: skill-1.md, experience-1.md, api-1.md.
  static Status put_known(const fs::path& folder, const std::vector<ContextItem>& known) {
    std::error_code error;
    fs::create_directory(folder, error);
    if (error) return fail(Errc::io, fmt::format("cannot make {}: {}", folder.string(), error.message()));
    std::map<std::string, int> numbers;
    for (const ContextItem& item : known)
      KERF_TRY_VOID(write_file_atomic(folder / fmt::format("{}-{}.md", item.kind, ++numbers[item.kind]),
                                      fmt::format("# {}\n\n{}\n", item.title, trim(item.text))));
    return {};
  }

  /// Fills the folder; gives the instructions.
  Result<std::string> furnish(const fs::path& folder, const ProposalRequest& request,
                              const std::vector<ContextItem>& known) const {
    std::map<std::string, std::string, std::less<>> values = {
        {"kernel_file", kernel_file()},
        {"extension", task_.extension},
        {"seconds", fmt::format("{:.0f}", options_.seconds)},
        {"example", task_.example.empty() ? "" : "1"},
        {"parent", request.parent ? "1" : ""},
        {"inspirations", request.inspirations.empty() ? "" : "1"},
        {"failures", request.failures.empty() ? "" : "1"},
        {"context", known.empty() ? "" : "1"},
        {"direction", request.direction ? describe(*request.direction) : ""},
        {"facts", facts_text(task_)},
        {"target", task_.target},
        {"entry", task_.entry},
        {"host_entry", task_.host_entry ? "1" : "0"}};
    KERF_TRY(std::string instructions, expand_prompt("agent.md", values));
    KERF_TRY(const std::string target, expand_prompt("target.md", values));
    KERF_TRY_VOID(write_file_atomic(folder / "instructions.md", instructions));
    KERF_TRY_VOID(write_file_atomic(folder / "target.md", target));
    KERF_TRY_VOID(write_file_atomic(folder / "task.toml", task_.source));
    if (!task_.example.empty()) {
      KERF_TRY_VOID(write_file_atomic(folder / ("naive" + task_.extension), task_.example));
    }
    if (request.parent) {
      KERF_TRY_VOID(put(folder, "parent", *request.parent));
    }
    for (std::size_t i = 0; i < request.inspirations.size(); ++i)
      KERF_TRY_VOID(put(folder, fmt::format("other-{}", i + 1), request.inspirations[i]));
    for (std::size_t i = 0; i < request.failures.size(); ++i)
      KERF_TRY_VOID(put(folder, fmt::format("failed-{}", i + 1), request.failures[i]));
    if (!known.empty()) {
      KERF_TRY_VOID(write_file_atomic(folder / "known.md", context_text(known)));
      KERF_TRY_VOID(put_known(folder / "known", known));
    }
    return instructions;
  }

  const AgentTask task_;
  const CommandOptions options_;
  std::atomic<bool> cancelled_{false};
  std::atomic<int> repeats_{0};  // written by the searching thread only
};

}  // namespace

std::unique_ptr<Proposer> make_command_mind(AgentTask task, CommandOptions options) {
  return std::make_unique<CommandMind>(std::move(task), std::move(options));
}

}  // namespace kerf::agents
