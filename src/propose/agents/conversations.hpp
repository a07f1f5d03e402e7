#pragma once
// Conversations that may go on: what was said, and the answer that the judge has not accepted yet.

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "llm/chat.hpp"
#include "propose/proposer.hpp"

namespace kerf::agents {

struct Conversation {
  std::string model;                   ///< the one that is asked
  std::vector<llm::Message> messages;  ///< the last is the model's answer
  std::string source;                  ///< of the kernel that the answer became
  std::string unreadable;              ///< why it became none; "" when it did
  std::optional<std::int64_t> parent;  ///< step that was to be made faster
  int turns = 1;
  std::string variant{};               ///< id of the prompt's variant that it began with
  std::vector<std::string> context{};  ///< ids of what was shown from memory
  std::string change{};                ///< of the proposal that it made
  std::int64_t step = 0;               ///< that its answer became; 0: not told yet
};

/// Not thread-safe.
class Conversations {
 public:
  void keep(Conversation conversation);
  /// The step that a conversation's answer became: equal texts of other conversations are other steps.
  void became(const Step& step);
  /// Takes out the conversation that one of the refused kernels came from, with the kernel's index; each goes on once,
  /// and only for so many turns.
  std::optional<std::pair<Conversation, std::size_t>> resume(std::span<const KernelRecord> failures);

 private:
  std::deque<Conversation> kept_;  // the newest last
};

}  // namespace kerf::agents
