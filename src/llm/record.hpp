#pragma once
// Conversations kept in a file, one exchange a line, and answered from it again: for tests and for looking into what a
// model was asked. Keys are not part of requests, so they are not in the file.

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "llm/chat.hpp"

namespace kerf::llm {

/// SHA-256 of the model's name, the messages and the limits.
std::string request_hash(const std::string& model, const ChatRequest& request);

/// Appends to a JSON-lines file (docs/formats.md). Thread-safe.
class ChatRecorder {
 public:
  virtual ~ChatRecorder() = default;
  virtual Status record(const std::string& model, const ChatRequest& request, const ChatOutcome& outcome) = 0;
};
/// Readable by its owner only, because prompts may hold what is nobody's business.
Result<std::unique_ptr<ChatRecorder>> open_chat_recorder(const std::filesystem::path& file);

/// Asks `model` and records. An exchange that cannot be recorded is a failure of the kind `unavailable`. Borrows the
/// recorder.
std::unique_ptr<ChatModel> make_recording_model(std::unique_ptr<ChatModel> model, ChatRecorder& recorder);

/// Recorded exchanges, each given once. Thread-safe.
class ChatRecording {
 public:
  enum class Match {
    exact,     ///< only the same question
    in_order,  ///< else the model's next one: prompts hold timings, which differ from run to run
  };
  virtual ~ChatRecording() = default;
  virtual std::optional<ChatOutcome> take(const std::string& model, const ChatRequest& request, Match match) = 0;
};
Result<std::unique_ptr<ChatRecording>> load_chat_recording(const std::filesystem::path& file);

/// Answers from the recording alone; a question that is not in it is a failure of the kind `unavailable`. Borrows it.
std::unique_ptr<ChatModel> make_replaying_model(std::string name, ChatRecording& recording, ChatRecording::Match match);

/// An outcome as one JSON object, and back.
std::string outcome_json(const ChatOutcome& outcome);
Result<ChatOutcome> outcome_from_json(const std::string& text);

}  // namespace kerf::llm
