#include "sandbox/pids_cgroup.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/text.hpp"

namespace kerf {
namespace {

constexpr std::string_view kPrefix = "kerf.";

bool write_text(const std::string& path, const std::string& text) {
  const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.number(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

// Where our own process lies in each hierarchy that could carry the pids controller.
std::vector<std::string> candidate_parents() {
  std::vector<std::string> parents;
  std::ifstream self("/proc/self/cgroup");
  for (std::string line; std::getline(self, line);) {
    const auto parts = split(line, ':');
    if (parts.size() < 3) continue;
    const std::string path = parts[2] == "/" ? "" : parts[2];
    if (("," + parts[1] + ",").find(",pids,") != std::string::npos) {
      parents.push_back("/sys/fs/cgroup/pids" + path);
      parents.push_back("/sys/fs/cgroup/" + parts[1] + path);
      parents.push_back("/sys/fs/cgroup/pids");  // in containers the path is often that of the outside
    } else if (parts[0] == "0") {
      parents.push_back("/sys/fs/cgroup" + path);
      parents.push_back("/sys/fs/cgroup");
    }
  }
  return parents;
}

// A judge that was killed leaves empty groups behind. rmdir refuses groups that are in use.
void sweep(const std::string& parent) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(parent, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.rfind(kPrefix, 0) != 0) continue;
    const int owner = std::atoi(name.c_str() + kPrefix.size());
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) ::rmdir(entry.path().c_str());
  }
}

// Unique within the process: two sandboxes must not share a group.
int next_number() {
  static std::atomic<int> counter{0};
  return ++counter;
}

}  // namespace

PidsCgroups::PidsCgroups() {
  for (const auto& parent : candidate_parents()) {
    parent_ = parent;
    if (auto group = make_group(); group && write_text(group->folder + "/pids.max", "64")) {
      group->limit = 64;
      free_.push_back(std::move(group));
      sweep(parent_);
      return;
    } else if (group) {
      ::rmdir(group->folder.c_str());
    }
  }
  parent_.clear();
}

PidsCgroups::~PidsCgroups() {
  for (auto& group : free_) {
    group->procs.reset();
    group->members.reset();
    ::rmdir(group->folder.c_str());
  }
}

std::unique_ptr<PidsCgroups::Group> PidsCgroups::make_group() {
  auto group = std::make_unique<Group>();
  group->folder = fmt::format("{}/{}{}.{}", parent_, kPrefix, ::getpid(), next_number());
  if (::mkdir(group->folder.c_str(), 0755) != 0) return nullptr;
  group->procs = UniqueFd(::open((group->folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  group->members = UniqueFd(::open((group->folder + "/cgroup.procs").c_str(), O_RDONLY | O_CLOEXEC));
  if (!group->procs || !group->members) {
    ::rmdir(group->folder.c_str());
    return nullptr;
  }
  return group;
}

std::unique_ptr<PidsCgroups::Group> PidsCgroups::acquire(int limit) {
  if (!available()) return nullptr;
  std::unique_ptr<Group> group;
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      group = std::move(free_.back());
      free_.pop_back();
    }
  }
  if (!group) group = make_group();
  if (group && group->limit != limit) {
    if (!write_text(group->folder + "/pids.max", std::to_string(limit))) {
      // Somebody removed the group (a sweep from another process namespace): make it anew, once.
      ::rmdir(group->folder.c_str());
      group = make_group();
      if (!group || !write_text(group->folder + "/pids.max", std::to_string(limit))) return nullptr;
    }
    group->limit = limit;
  }
  return group;
}

void PidsCgroups::release(std::unique_ptr<Group> group) {
  if (!group) return;
  const std::lock_guard lock(mutex_);
  free_.push_back(std::move(group));
}

std::vector<int> PidsCgroups::processes(const Group& group) {
  std::vector<int> pids;
  char text[4096];
  std::string left;
  for (off_t at = 0;;) {
    const ssize_t count = ::pread(group.members.number(), text, sizeof text, at);
    if (count <= 0) break;
    left.append(text, static_cast<std::size_t>(count));
    at += count;
  }
  for (const auto& line : split(left, '\n'))
    if (const int pid = std::atoi(line.c_str()); pid > 0) pids.push_back(pid);
  return pids;
}

void PidsCgroups::kill_all(const Group& group) {
  for (int round = 0; round < 1000; ++round) {
    const auto pids = processes(group);
    for (const int pid : pids) ::kill(pid, SIGKILL);
    if (pids.empty()) return;
    ::usleep(200);
  }
}

}  // namespace kerf
