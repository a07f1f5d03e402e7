#include "llm/record.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "base/text.hpp"

namespace kerf::llm {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json messages_json(const std::vector<Message>& messages) {
  Json list = Json::array();
  for (const Message& message : messages) list.push_back({{"role", message.role}, {"content", message.content}});
  return list;
}

Json usage_json(const Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"reply_tokens", usage.reply_tokens},
          {"reasoning_tokens", usage.reasoning_tokens},
          {"cost_usd", usage.cost_usd},
          {"estimated", usage.estimated}};
}

Json to_json(const ChatOutcome& outcome) {
  if (const auto* reply = std::get_if<ChatReply>(&outcome))
    return {{"outcome", "reply"},
            {"text", reply->text},
            {"reasoning", reply->reasoning},
            {"usage", usage_json(reply->usage)},
            {"attempts", reply->attempts},
            {"seconds", reply->seconds}};
  const auto& failed = std::get<ChatFailure>(outcome);
  return {{"outcome", failure_name(failed.kind)}, {"message", failed.message},   {"text", failed.text},
          {"usage", usage_json(failed.usage)},    {"attempts", failed.attempts}, {"seconds", failed.seconds}};
}

/// Throws what the JSON library throws.
ChatOutcome read_outcome(const Json& json) {
  Usage usage;
  const Json& counts = json.at("usage");
  usage.prompt_tokens = counts.at("prompt_tokens").get<std::int64_t>();
  usage.reply_tokens = counts.at("reply_tokens").get<std::int64_t>();
  usage.reasoning_tokens = counts.at("reasoning_tokens").get<std::int64_t>();
  usage.cost_usd = counts.at("cost_usd").get<double>();
  usage.estimated = counts.at("estimated").get<bool>();
  const auto kind = json.at("outcome").get<std::string>();
  const auto text = json.at("text").get<std::string>();
  const int attempts = json.at("attempts").get<int>();
  const double seconds = json.at("seconds").get<double>();
  if (kind == "reply") return ChatReply{text, json.at("reasoning").get<std::string>(), usage, attempts, seconds};
  const auto known = failure_from_name(kind);
  if (!known) throw std::runtime_error(fmt::format("unknown outcome '{}'", kind));
  return ChatFailure{*known, json.at("message").get<std::string>(), text, usage, std::nullopt, attempts, seconds};
}

class FileRecorder final : public ChatRecorder {
 public:
  FileRecorder(std::filesystem::path file, int descriptor) : file_(std::move(file)), descriptor_(descriptor) {}
  ~FileRecorder() override { ::close(descriptor_); }

  Status record(const std::string& model, const ChatRequest& request, const ChatOutcome& outcome) override {
    const std::string line = dump({{"schema", 1},
                                   {"request", request_hash(model, request)},
                                   {"model", model},
                                   {"messages", messages_json(request.messages)},
                                   {"max_reply_tokens", request.max_reply_tokens},
                                   {"answer", to_json(outcome)}}) +
                             "\n";
    const std::lock_guard lock(mutex_);
    for (std::size_t done = 0; done < line.size();) {
      const ssize_t written = ::write(descriptor_, line.data() + done, line.size() - done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail(Errc::io, fmt::format("cannot write {}: {}", file_.string(), std::strerror(errno)));
      done += static_cast<std::size_t>(written);
    }
    return {};
  }

 private:
  std::filesystem::path file_;
  int descriptor_;
  std::mutex mutex_;
};

class RecordingModel final : public ChatModel {
 public:
  RecordingModel(std::unique_ptr<ChatModel> model, ChatRecorder& recorder)
      : model_(std::move(model)), recorder_(recorder) {}
  const std::string& name() const override { return model_->name(); }
  ChatOutcome ask(const ChatRequest& request, const std::atomic<bool>& cancelled) override {
    ChatOutcome outcome = model_->ask(request, cancelled);
    if (const auto recorded = recorder_.record(name(), request, outcome); !recorded) {
      ChatFailure failed{FailureKind::unavailable, recorded.error().message};
      failed.usage = std::visit([](const auto& one) { return one.usage; }, outcome);
      return failed;
    }
    return outcome;
  }

 private:
  std::unique_ptr<ChatModel> model_;
  ChatRecorder& recorder_;
};

struct Recorded {
  std::string model, request;
  ChatOutcome outcome;
  bool taken = false;
};

class FileRecording final : public ChatRecording {
 public:
  explicit FileRecording(std::vector<Recorded> exchanges) : exchanges_(std::move(exchanges)) {}
  std::optional<ChatOutcome> take(const std::string& model, const ChatRequest& request, Match match) override {
    const std::string hash = request_hash(model, request);
    const std::lock_guard lock(mutex_);
    for (const bool exact : {true, false}) {
      if (!exact && match == Match::exact) break;
      for (Recorded& one : exchanges_) {
        if (one.taken || one.model != model || (exact && one.request != hash)) continue;
        one.taken = true;
        return one.outcome;
      }
    }
    return std::nullopt;
  }

 private:
  std::mutex mutex_;
  std::vector<Recorded> exchanges_;  // `taken` is guarded by mutex_
};

class ReplayingModel final : public ChatModel {
 public:
  ReplayingModel(std::string name, ChatRecording& recording, ChatRecording::Match match)
      : name_(std::move(name)), recording_(recording), match_(match) {}
  const std::string& name() const override { return name_; }
  ChatOutcome ask(const ChatRequest& request, const std::atomic<bool>&) override {
    if (auto outcome = recording_.take(name_, request, match_)) return *std::move(outcome);
    return ChatFailure{FailureKind::unavailable,
                       fmt::format("the recording has no (further) answer of {} to this question", name_)};
  }

 private:
  std::string name_;
  ChatRecording& recording_;
  ChatRecording::Match match_;
};

}  // namespace

std::string request_hash(const std::string& model, const ChatRequest& request) {
  return sha256_hex(dump({{"model", model},
                          {"messages", messages_json(request.messages)},
                          {"max_reply_tokens", request.max_reply_tokens}}));
}

std::string outcome_json(const ChatOutcome& outcome) { return dump(to_json(outcome)); }

Result<ChatOutcome> outcome_from_json(const std::string& text) {
  try {
    return read_outcome(Json::parse(text));
  } catch (const std::exception& error) {
    return fail(Errc::invalid_input, fmt::format("a recorded answer cannot be read: {}", error.what()));
  }
}

Result<std::unique_ptr<ChatRecorder>> open_chat_recorder(const std::filesystem::path& file) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (descriptor < 0)
    return fail(Errc::invalid_input,
                fmt::format("cannot open {} to record in it: {}", file.string(), std::strerror(errno)));
  return std::make_unique<FileRecorder>(file, descriptor);
}

std::unique_ptr<ChatModel> make_recording_model(std::unique_ptr<ChatModel> model, ChatRecorder& recorder) {
  return std::make_unique<RecordingModel>(std::move(model), recorder);
}

Result<std::unique_ptr<ChatRecording>> load_chat_recording(const std::filesystem::path& file) {
  KERF_TRY(const std::string text, read_file(file));
  std::vector<Recorded> exchanges;
  int number = 0;
  for (const std::string& line : split(text, '\n')) {
    ++number;
    if (trim(line).empty()) continue;
    try {
      const Json json = Json::parse(line);
      if (json.at("schema").get<int>() != 1) throw std::runtime_error("its schema is not 1");
      exchanges.push_back({json.at("model").get<std::string>(), json.at("request").get<std::string>(),
                           read_outcome(json.at("answer"))});
    } catch (const std::exception& error) {
      return fail(Errc::invalid_input,
                  fmt::format("{}:{} is no recorded exchange: {}", file.string(), number, error.what()));
    }
  }
  return std::make_unique<FileRecording>(std::move(exchanges));
}

std::unique_ptr<ChatModel> make_replaying_model(std::string name, ChatRecording& recording,
                                                ChatRecording::Match match) {
  return std::make_unique<ReplayingModel>(std::move(name), recording, match);
}

}  // namespace kerf::llm
