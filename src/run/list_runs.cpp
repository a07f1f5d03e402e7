#include "run/list_runs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>

#include "store/find_run.hpp"
#include "store/folder_lock.hpp"
#include "store/run_store.hpp"

namespace kerf {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInterrupted = "interrupted";

/// Whether some process holds a lock on the file, without taking one: "1: FLOCK ADVISORY WRITE 812 fe:01:1055 0 EOF".
bool is_locked(const fs::path& file) {
  struct stat found{};
  if (::stat(file.c_str(), &found) != 0) return false;
  const std::string inode = fmt::format("{:02x}:{:02x}:{}", major(found.st_dev), minor(found.st_dev), found.st_ino);
  std::ifstream locks("/proc/locks");
  for (std::string line; std::getline(locks, line);) {
    std::istringstream words(line);
    std::string number, kind, mode, access, process, place;
    if (words >> number >> kind >> mode >> access >> process >> place && kind == "FLOCK" && place == inode) return true;
  }
  return false;
}

std::int64_t changed_ms(const fs::path& folder) {
  std::int64_t newest = 0;
  for (const char* name : {"kerf.db", "kerf.db-wal", "events.jsonl"}) {
    struct stat found{};
    if (::stat((folder / name).c_str(), &found) == 0)
      newest = std::max(newest, static_cast<std::int64_t>(found.st_mtim.tv_sec) * 1000 +
                                    static_cast<std::int64_t>(found.st_mtim.tv_nsec) / 1'000'000);
  }
  return newest;
}

Status read_facts(RunEntry& entry) {
  KERF_TRY(const auto store, open_run_store(entry.folder, RunStore::Access::read));
  KERF_TRY(const auto facts, store->facts());
  const auto fact = [&](const char* key) {
    const auto found = facts.find(key);
    return found == facts.end() ? std::string() : found->second;
  };
  entry.task = fact("task");
  entry.target = fact("target");
  entry.ended = fact("finished");
  if (!entry.ended.empty()) entry.state = RunState::finished;
  const std::string best = fact("best_step");
  std::from_chars(best.data(), best.data() + best.size(), entry.best_step);
  if (entry.best_step == 0) return {};
  KERF_TRY(const Step step, store->step(entry.best_step));
  entry.plain = is_fallback(step);
  if (const auto* measured = std::get_if<Measurement>(&step.evaluation.outcome); measured != nullptr && !entry.plain)
    entry.best = measured->speedup;
  return {};
}

}  // namespace

std::string run_state_name(RunState state) {
  switch (state) {
    case RunState::running: return "running";
    case RunState::finished: return "finished";
    case RunState::unfinished: return "unfinished";
    case RunState::damaged: return "damaged";
  }
  return "";
}

bool is_running(const fs::path& run) { return is_locked(run / store::kLockFile); }

std::vector<RunEntry> list_runs(const fs::path& runs) {
  std::vector<RunEntry> list;
  for (const fs::path& found : run_folders(runs)) {
    RunEntry entry;
    entry.folder = found;
    entry.changed_ms = changed_ms(entry.folder);
    if (const Status read = read_facts(entry); !read) {
      entry.state = RunState::damaged;
      entry.ended = read.error().message;
    } else if (is_running(entry.folder)) {
      entry.state = RunState::running;
      entry.ended.clear();
    } else if (entry.state == RunState::unfinished) {
      entry.ended = kInterrupted;
    }
    list.push_back(std::move(entry));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const RunEntry& a, const RunEntry& b) { return a.changed_ms > b.changed_ms; });
  return list;
}

}  // namespace kerf
