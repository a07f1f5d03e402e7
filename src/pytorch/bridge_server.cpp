#include "pytorch/bridge_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/file.hpp"
#include "base/printable.hpp"

namespace kerf::pytorch {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using std::chrono::milliseconds;

constexpr int kSocket = 3;                   ///< where the server finds its end
constexpr milliseconds kStartLimit{180000};  ///< importing PyTorch from a cold disk
constexpr milliseconds kGrace{30000};        ///< after a child's own limit
constexpr milliseconds kGoodbye{3000};       ///< for the server to end its children

ProcessOutcome outcome_of(const Json& line) {
  ProcessOutcome outcome;
  outcome.exit_code = line.value("exit_code", 0);
  outcome.signal = line.value("signal", 0);
  outcome.timed_out = line.value("timed_out", false);
  return outcome;
}

}  // namespace

Result<std::unique_ptr<BridgeServer>> BridgeServer::start(std::map<std::string, std::string> environment,
                                                          Sandbox& sandbox) {
  std::unique_ptr<BridgeServer> server(new BridgeServer(std::move(environment), sandbox));
  KERF_TRY(server->folder_, BridgeFolder::make());
  KERF_TRY_VOID(server->launch());
  return server;
}

BridgeServer::~BridgeServer() { end(); }

void BridgeServer::end() {
  socket_.reset();  // the server ends its children, then itself
  if (!process_) return;
  for (milliseconds waited{0}; waited < kGoodbye && process_->alive(); waited += milliseconds(10))
    std::this_thread::sleep_for(milliseconds(10));
  process_->kill_and_wait();
  process_.reset();
}

Status BridgeServer::begin(const std::string& python) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(Errc::io, fmt::format("cannot make a socket: {}", std::strerror(errno)));
  socket_ = UniqueFd(ends[0]);
  const UniqueFd theirs(ends[1]);
  rest_.clear();
  SandboxCommand command = folder_->command(python, {"--serve", std::to_string(kSocket)}, environment_);
  command.pass_fds = {{theirs.number(), kSocket}};
  KERF_TRY(process_, sandbox_.start(command));
  return {};
}

Status BridgeServer::launch() {
  end();
  std::vector<std::string> tried;
  for (const std::string& python : python_programs(environment_)) {
    KERF_TRY_VOID(begin(python));
    const auto line = next_line(kStartLimit);
    const Json first = line ? Json::parse(*line, nullptr, false) : Json();
    if (first.is_object() && first.value("ready", false)) {
      python_ = python;
      torch_ = first.value("torch", "");
      broken_ = false;
      return {};
    }
    const std::string reason = first.is_object() ? first.value("message", "it gave no answer")
                               : line            ? "it gave no answer"
                                                 : line.error().message;
    end();
    tried.push_back(fmt::format("{} ({})", python, printable(reason)));
  }
  return tl::unexpected<Error>(no_python(environment_, tried));
}

Result<std::string> BridgeServer::next_line(milliseconds limit) {
  for (;;) {
    if (const std::size_t end = rest_.find('\n'); end != std::string::npos) {
      std::string line = rest_.substr(0, end);
      rest_.erase(0, end + 1);
      return line;
    }
    pollfd waiting{socket_.number(), POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::min<std::int64_t>(limit.count(), 1 << 30)));
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return fail(Errc::timeout, "the Python process does not answer");
    char buffer[4096];
    const ssize_t got = ::recv(socket_.number(), buffer, sizeof buffer, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(Errc::unavailable, "the Python process has ended");
    rest_.append(buffer, static_cast<std::size_t>(got));
  }
}

Status BridgeServer::send(const std::string& line) {
  for (std::size_t at = 0; at < line.size();) {
    const ssize_t sent = ::send(socket_.number(), line.data() + at, line.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return fail(Errc::unavailable, "the Python process has ended");
    at += static_cast<std::size_t>(sent);
  }
  return {};
}

Result<ProcessOutcome> BridgeServer::wait_for(std::int64_t id, milliseconds limit, std::unique_lock<std::mutex>& lock) {
  for (;;) {
    if (const auto found = ended_.find(id); found != ended_.end()) {
      ProcessOutcome outcome = std::move(found->second);
      ended_.erase(found);
      return outcome;
    }
    if (broken_) return fail(Errc::unavailable, "the Python process that imports models has ended");
    if (reading_) {
      changed_.wait(lock);
      continue;
    }
    reading_ = true;
    lock.unlock();
    const auto line = next_line(limit);
    lock.lock();
    reading_ = false;
    changed_.notify_all();
    const Json ended = line ? Json::parse(*line, nullptr, false) : Json();
    if (ended.is_object() && ended.contains("id") && ended["id"].is_number_integer())
      ended_[ended["id"].get<std::int64_t>()] = outcome_of(ended);
    else
      broken_ = true;
  }
}

void BridgeServer::cancel(const std::filesystem::path& wait_for) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const Json line{{"cancel", std::filesystem::absolute(wait_for).string()}};
  if (!broken_ && !send(line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n")) broken_ = true;
}

Result<BridgeAnswer> BridgeServer::ask(const BridgeQuestion& question) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return !broken_ || asking_ == 0; });
  if (broken_) {
    KERF_TRY_VOID(launch());
  }
  const std::int64_t id = ++last_id_;
  const fs::path answer = folder_->path() / fmt::format("answer{}.json", id);
  const fs::path said = folder_->path() / fmt::format("said{}.txt", id);
  const Json request = Json::parse(question.request, nullptr, false);
  const Json asked{{"id", id},
                   {"request", request},
                   {"answer", answer.string()},
                   {"said", said.string()},
                   {"time_limit_s", static_cast<double>(question.time_limit.count()) / 1000},
                   {"memory_bytes", question.memory_bytes}};
  ++asking_;
  BridgeAnswer given;
  given.python = python_;
  Result<ProcessOutcome> outcome = fail(Errc::unavailable, "the Python process that imports models has ended");
  if (send(asked.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"))
    outcome = wait_for(id, question.time_limit + kGrace, lock);
  else
    broken_ = true;
  --asking_;
  changed_.notify_all();
  lock.unlock();
  if (const auto text = read_file(answer)) given.text = *text;
  std::string last_words;
  if (const auto text = read_file(said)) last_words = text->size() > 4096 ? text->substr(text->size() - 4096) : *text;
  std::error_code error;
  for (const fs::path& file :
       {answer, said, fs::path(answer.string() + ".request"), fs::path(answer.string() + ".new")})
    fs::remove(file, error);
  if (!outcome) return tl::unexpected<Error>(std::move(outcome).error());
  given.outcome = *std::move(outcome);
  given.outcome.err = std::move(last_words);
  return given;
}

}  // namespace kerf::pytorch
