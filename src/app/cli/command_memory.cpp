#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "app/cli/commands.hpp"
#include "app/cli/memory_commands.hpp"
#include "app/cli/memory_option.hpp"
#include "app/cli/output_path.hpp"
#include "app/cli/run_text.hpp"
#include "base/file.hpp"
#include "base/one_line.hpp"
#include "base/printable.hpp"
#include "base/text.hpp"
#include "memory/memory_file.hpp"
#include "memory/retrieve.hpp"
#include "run/remembering.hpp"

namespace kerf::cli {
namespace {

using memory::Experience;
using memory::ValueStage;
using MemoryJson = nlohmann::ordered_json;

struct OpenMemory {
  std::filesystem::path file;
  std::unique_ptr<MemoryStore> store;
  std::vector<Experience> all;
};

template <class Container>
std::int64_t size_of(const Container& container) {
  return static_cast<std::int64_t>(container.size());
}

void print_json(const MemoryJson& json, Console& console) {
  console.out << json.dump(-1, ' ', false, MemoryJson::error_handler_t::replace) << std::endl;
}

Result<OpenMemory> open_for(const MemoryOptions& options, const Environment& environment, Console& console) {
  OpenMemory memory;
  memory.file = memory_file(options.memory, environment);
  if (memory.file.empty())
    return fail(Errc::invalid_input, "there is no memory: give its file with --memory FILE (KERF_MEMORY may be 'off')");
  // Looking makes no file: one that is misspelt would be believed empty.
  if (std::error_code error; options.action != "import" && !std::filesystem::exists(memory.file, error))
    return fail(Errc::not_found, fmt::format("there is no memory {}; searches and 'kerf memory import FILE' make one",
                                             memory.file.string()));
  KERF_TRY(memory.store, open_memory_store(memory.file));
  std::vector<std::string> skipped;
  KERF_TRY(memory.all, memory.store->experiences("", skipped));
  for (const std::string& one : skipped) console.err << "left out: " << one_line(one) << "\n";
  return memory;
}

// ---- stats

struct TaskCount {
  int kernels = 0, failures = 0;
  const Experience* best = nullptr;  ///< what its run presented: confirmed before not, then the share, then the figure
  double uses = 0;
  double best_speedup() const { return best == nullptr ? 0 : best->speedup; }
  void observe(const Experience& one) {
    const auto rank = [](const Experience& kernel) {
      return std::tuple(kernel.confirmed, kernel.share, kernel.speedup);
    };
    if (one.kind == memory::kKernelKind && (best == nullptr || rank(one) > rank(*best))) best = &one;
  }
};

/// Of a memory that is not there yet: nothing was learned.
Status show_no_stats(const std::filesystem::path& file, bool as_json, Console& console) {
  if (as_json) {
    print_json({{"schema", 1},
                {"memory", file.string()},
                {"experiences", 0},
                {"refine_rewards", {{"count", 0}, {"mean", 0}, {"deviation", 0}}},
                {"tasks", MemoryJson::array()}},
               console);
    return {};
  }
  console.out << fmt::format("{}: nothing is known yet; 'kerf optimize TASK' and 'kerf campaign TASK...' add to it\n",
                             file.string())
              << std::flush;
  return {};
}

Status show_stats(const OpenMemory& memory, bool as_json, Console& console) {
  std::map<std::tuple<std::string, std::string, std::string>, TaskCount> counts;  // task, target, device
  for (const Experience& one : memory.all) {
    TaskCount& count = counts[{one.task, one.signature.target, one.signature.device.name}];
    ++(one.kind == memory::kKernelKind ? count.kernels : count.failures);
    count.observe(one);
    for (const auto stage : memory::kValueStages) count.uses += value_count(one, stage);
  }
  KERF_TRY(const auto moments, memory.store->moments());
  if (as_json) {
    MemoryJson json{
        {"schema", 1},
        {"memory", memory.file.string()},
        {"experiences", memory.all.size()},
        {"refine_rewards", {{"count", moments.count}, {"mean", moments.mean}, {"deviation", moments.deviation()}}},
        {"tasks", MemoryJson::array()}};
    for (const auto& [key, count] : counts)
      json["tasks"].push_back({{"task", std::get<0>(key)},
                               {"target", std::get<1>(key)},
                               {"device", std::get<2>(key)},
                               {"kernels", count.kernels},
                               {"failures", count.failures},
                               {"best_speedup", count.best_speedup()},
                               {"best_is_confirmed", count.best != nullptr && count.best->confirmed},
                               {"uses", count.uses}});
    print_json(json, console);
    return {};
  }
  std::set<std::string> tasks;
  for (const auto& [key, count] : counts) tasks.insert(std::get<0>(key));
  console.out << fmt::format("{}: {} of {}\n", memory.file.string(), counted(size_of(memory.all), "experience"),
                             counted(size_of(tasks), "task"));
  if (counts.empty()) {
    console.out << "'kerf optimize TASK' and 'kerf campaign TASK...' add to it\n" << std::flush;
    return {};
  }
  std::vector<std::vector<Cell>> rows{{{"task"},
                                       {"target"},
                                       {"device"},
                                       {"kernels", {}, true},
                                       {"failures", {}, true},
                                       {"best", {}, true},
                                       {"used", {}, true}}};
  for (const auto& [key, count] : counts)
    rows.push_back({{one_line(std::get<0>(key)), Colour::bold},
                    {one_line(std::get<1>(key))},
                    {one_line(std::get<2>(key))},
                    {std::to_string(count.kernels), Colour::none, true},
                    {std::to_string(count.failures), Colour::none, true},
                    {count.best != nullptr ? fmt::format("{:.2f}x", count.best_speedup()) : "-", Colour::none, true},
                    {fmt::format("{:.0f}", count.uses), Colour::none, true}});
  console.out << table(rows, console.out_style);
  if (moments.count > 0)
    console.out << fmt::format("{:.0f} rewards against a run's best so far: mean {:.2f}, deviation {:.2f}\n",
                               moments.count, moments.mean, moments.deviation());
  console.out << std::flush;
  return {};
}

// ---- search and show

std::string kernel_words(const Experience& one) {
  return one.recipe.genes.empty() ? "written, source " + one_line(one.source_hash).substr(0, 8)
                                  : one_line(memory::recipe_words(one.recipe));
}

MemoryJson brief_json(double similarity, const Experience& one, const std::string& family) {
  return {{"id", one.id},
          {"similarity", similarity},
          {"task", one.task},
          {"device", one.signature.device.name},
          {"kernel", kernel_words(one)},
          {"speedup", one.speedup},
          {"share", one.share},
          {"draft", value_of(one, ValueStage::draft, family)},
          {"refine", value_of(one, ValueStage::refine, family)},
          {"uses", value_count(one, ValueStage::draft) + value_count(one, ValueStage::refine)}};
}

Status search_memory(const OpenMemory& memory, const MemoryOptions& options, const Environment& environment,
                     Console& console) {
  const std::string target = options.target.empty() ? default_target() : options.target;
  KERF_TRY_VOID(check_target_name(target));
  KERF_TRY(const Task task, load_checked_task(options.what, environment));
  if (!task.graph)
    return fail(Errc::invalid_input,
                fmt::format("{} has a C++ reference; tasks are compared by their expressions", task.name));
  // Devices are left out of it: the question is which tasks are alike.
  memory::TaskSignature signature = signature_for(task, target, {});
  std::vector<Experience> known;
  for (const Experience& one : memory.all)
    if (one.signature.target == target) known.push_back(one);
  for (Experience& one : known) one.signature.device = {};
  const auto found = memory::most_similar(signature, known, static_cast<std::size_t>(options.top), 0);
  if (options.json) {
    MemoryJson json{
        {"schema", 1}, {"task", task.name}, {"family", signature.family}, {"experiences", MemoryJson::array()}};
    for (const auto& [like, one] : found) json["experiences"].push_back(brief_json(like, *one, signature.family));
    print_json(json, console);
    return {};
  }
  if (found.empty()) {
    console.out << fmt::format("nothing is known for target {} yet\n", target) << std::flush;
    return {};
  }
  std::vector<std::vector<Cell>> rows{{{"experience"},
                                       {"alike", {}, true},
                                       {"task"},
                                       {"of its best", {}, true},
                                       {"draft", {}, true},
                                       {"refine", {}, true},
                                       {"used", {}, true},
                                       folding("kernel")}};
  for (const auto& [like, one] : found)
    rows.push_back(
        {{one->id, Colour::bold},
         {fmt::format("{:.0f} %", 100 * like), Colour::none, true},
         {one_line(one->task)},
         {fmt::format("{:.0f} %", 100 * one->share), Colour::none, true},
         {fmt::format("{:+.2f}", value_of(*one, ValueStage::draft, signature.family)), Colour::none, true},
         {fmt::format("{:+.2f}", value_of(*one, ValueStage::refine, signature.family)), Colour::none, true},
         {fmt::format("{:.0f}", value_count(*one, ValueStage::draft) + value_count(*one, ValueStage::refine)),
          Colour::none, true},
         {kernel_words(*one)}});
  console.out << table(rows, console.out_style) << std::flush;
  return {};
}

Result<const Experience*> find_experience(const OpenMemory& memory, const std::string& id) {
  std::vector<const Experience*> found;
  for (const Experience& one : memory.all)
    if (!id.empty() && one.id.starts_with(id)) found.push_back(&one);
  if (found.size() == 1) return found[0];
  return fail(
      found.empty() ? Errc::not_found : Errc::invalid_input,
      fmt::format("{} experiences begin with '{}'; 'kerf memory search TASK' lists some", found.size(), one_line(id)));
}

Status show_experience(const OpenMemory& memory, const MemoryOptions& options, Console& console) {
  KERF_TRY(const Experience* one, find_experience(memory, options.what));
  KERF_TRY(const auto uses, memory.store->uses(one->id));
  if (options.json) {
    Experience whole = *one;
    KERF_TRY(whole.source, memory.store->source(one->id));
    MemoryJson json = MemoryJson::parse(to_json(whole));
    json["uses"] = MemoryJson::array();
    for (const MemoryUse& use : uses)
      json["uses"].push_back({{"run", use.run},
                              {"step", use.step},
                              {"stage", value_stage_name(use.stage)},
                              {"family", use.family},
                              {"reward", use.reward}});
    print_json(json, console);
    return {};
  }
  console.out << fmt::format("{} ({}{}{})\n", one->id, one->kind, one->imported ? ", imported" : "",
                             one->frozen ? ", frozen" : "")
              << fmt::format("task      {} on {} ({})\n", one_line(one->task), one_line(one->signature.target),
                             one_line(one->signature.device.name))
              << fmt::format("kernel    {}\n", kernel_words(*one));
  if (one->kind == memory::kKernelKind)
    console.out << fmt::format("speed     {:.2f}x, {:.0f} % of the best of its run, {}{}\n", one->speedup,
                               100 * one->share, format_us(one->time_us),
                               one->confirmed ? ", confirmed" : ", not measured again");
  else
    console.out << fmt::format("refused   {}: {}\n", one_line(one->gate), fit(one_line(one->message), 100));
  console.out << fmt::format("from      step {} of run {}, by {} ({}), {}; seen in {}\n", one->step, one_line(one->run),
                             one_line(one->mind), one_line(one->operation), format_utc(one->recorded_ms),
                             counted(one->seen, "run"));
  for (const auto& [stage, value] : one->values) {
    console.out << fmt::format("{:<12} {:+.3f} after {:.0f} uses", value_stage_name(stage), value.all.mean,
                               value.all.count);
    for (const auto& [family, residual] : value.residuals)
      console.out << fmt::format("; {} {:+.3f} ({:.0f})", one_line(family), value.of(family), residual.count);
    console.out << "\n";
  }
  for (const MemoryUse& use : uses)
    console.out << fmt::format("used      run {} step {}: {} reward {:+.3f} ({})\n", one_line(use.run), use.step,
                               value_stage_name(use.stage), use.reward, one_line(use.family));
  KERF_TRY(const std::string source, memory.store->source(one->id));
  if (!source.empty() && options.source)
    console.out << "\n" << printable(source) << "\n";
  else if (!source.empty())
    console.out << fmt::format("source    {}; --source prints them\n",
                               counted(std::count(source.begin(), source.end(), '\n'), "line"));
  console.out << std::flush;
  return {};
}

// ---- export and import

/// A name that no experience has is a slip: what was to be left out would be in.
Status check_without(const std::vector<std::string>& without, const std::vector<Experience>& all) {
  std::set<std::string> tasks;
  for (const Experience& one : all) tasks.insert(one.task);
  const std::vector<std::string> known(tasks.begin(), tasks.end());
  for (const std::string& name : without) {
    const bool found = std::any_of(all.begin(), all.end(),
                                   [&](const Experience& one) { return one.task == name || one.task_id == name; });
    if (!found)
      return fail(Errc::invalid_input,
                  fmt::format("--without {0}: there is no task '{0}'{1}; choose one of: {2}", one_line(name),
                              did_you_mean(name, known), fit(one_line(join(known, ", ")), 200)));
  }
  return {};
}

Status export_memory(OpenMemory& memory, const MemoryOptions& options, Console& console) {
  KERF_TRY_VOID(check_without(options.without, memory.all));
  for (Experience& one : memory.all) {
    KERF_TRY(one.source, memory.store->source(one.id));
  }
  const std::string text = memory::to_file(memory.all, options.without);
  if (options.what.empty() || options.what == "-") {
    console.out << text << std::flush;
    return {};
  }
  KERF_TRY_VOID(write_output({options.what, OutputKind::memory, {memory.file}}, text));
  const auto lines = std::count(text.begin(), text.end(), '\n') - 1;
  if (options.json)
    print_json({{"schema", 1}, {"file", options.what}, {"experiences", lines}}, console);
  else
    console.out << fmt::format("{}: {}\n", options.what, counted(lines, "experience")) << std::flush;
  return {};
}

Status import_memory(OpenMemory& memory, const MemoryOptions& options, Console& console) {
  constexpr std::uintmax_t kLargestFile = 1u << 30;
  std::error_code error;
  if (std::filesystem::file_size(options.what, error) > kLargestFile && !error)
    return fail(Errc::invalid_input, fmt::format("{} has more than {} bytes", options.what, kLargestFile));
  KERF_TRY(const std::string text, read_file(options.what));
  if (!options.without.empty())
    if (const auto whole = memory::from_file(text, {})) {
      KERF_TRY_VOID(check_without(options.without, whole->experiences));
    }
  auto read = memory::from_file(text, options.without);
  if (!read) return fail(read.error().code, options.what + ": " + read.error().message);
  // What is known here is known better than by others.
  std::vector<Experience> added;
  for (Experience& one : read->experiences)
    if (std::none_of(memory.all.begin(), memory.all.end(), [&](const Experience& known) { return known.id == one.id; }))
      added.push_back(std::move(one));
  const std::size_t known = read->experiences.size() - added.size();
  KERF_TRY_VOID(memory.store->add(added));
  for (const std::string& line : read->skipped) console.err << fmt::format("left out: {}\n", one_line(line));
  if (options.json)
    print_json(
        {{"schema", 1}, {"file", options.what}, {"added", added.size()}, {"known", known}, {"skipped", read->skipped}},
        console);
  else
    console.out << fmt::format("{} added, {} known, {} left out\n", counted(size_of(added), "experience"), known,
                               read->skipped.size())
                << std::flush;
  if (!read->experiences.empty() || read->skipped.empty()) return {};
  return fail(Errc::tool_failed, fmt::format("nothing was added: every line of {} was refused", options.what));
}

}  // namespace

Status memory_command(const MemoryOptions& options, const Environment& environment, Console& console) {
  const std::vector<std::string> actions{"stats", "search", "show", "export", "import"};
  if (std::find(actions.begin(), actions.end(), options.action) == actions.end())
    return fail(Errc::invalid_input, fmt::format("unknown action '{}'{}; choose one of: {}", options.action,
                                                 did_you_mean(options.action, actions), join(actions, ", ")));
  const std::map<std::string, std::string> needed{{"search", "a task file"},
                                                  {"show", "the id of an experience"},
                                                  {"import", "a file that 'kerf memory export' wrote"}};
  if (const auto what = needed.find(options.action); what != needed.end() && options.what.empty())
    return fail(Errc::invalid_input, fmt::format("kerf memory {} needs {}", options.action, what->second));
  if (options.action == "export" && options.what != "-") {
    KERF_TRY_VOID(check_output({options.what, OutputKind::memory, {memory_file(options.memory, environment)}}));
  }
  if (options.action == "stats" && !options.what.empty())
    return fail(Errc::invalid_input, fmt::format("unexpected argument '{}'; kerf memory stats shows all that is known",
                                                 one_line(options.what)));
  const auto own = memory_file("", environment);
  if (std::error_code error;
      options.action == "stats" && options.memory.empty() && !own.empty() && !std::filesystem::exists(own, error))
    return show_no_stats(own, options.json, console);
  KERF_TRY(OpenMemory memory, open_for(options, environment, console));
  if (options.action == "search") return search_memory(memory, options, environment, console);
  if (options.action == "show") return show_experience(memory, options, console);
  if (options.action == "export") return export_memory(memory, options, console);
  if (options.action == "import") return import_memory(memory, options, console);
  return show_stats(memory, options.json, console);
}

}  // namespace kerf::cli
