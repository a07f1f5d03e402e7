#pragma once
// Options as all commands define them. Included by the sources that define commands only.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "app/cli/embedding_option.hpp"
#include "app/cli/mind_options.hpp"
#include "base/text.hpp"
#include "target/target.hpp"

namespace kerf::cli {

/// An option whose help reads "--shape NAME".
template <class T>
CLI::Option* add_value(CLI::App* command, const char* name, T& into, const char* type, const std::string& help) {
  return command->add_option(name, into, help)->type_name(type);
}

/// The parser's own words for text that is no number are about ranges.
inline CLI::Validator whole_number(std::int64_t least, std::int64_t most) {
  return {
      [=](const std::string& text) {
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const bool fine = error == std::errc() && end == text.data() + text.size() && number >= least && number <= most;
        return fine ? std::string() : fmt::format("expected a whole number from {} to {}, not '{}'", least, most, text);
      },
      ""};
}

/// "expected <what>, more than 0 and at most <most>". Zero would mean "no limit" to those who read it, and the parser's
/// own ranges let nan pass.
inline CLI::Validator above_zero(const char* what, double most) {
  return {[=](const std::string& text) {
            double number = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
            const bool fine = error == std::errc() && end == text.data() + text.size() && number > 0 && number <= most;
            return fine ? std::string()
                        : fmt::format("expected {}, more than 0 and at most {}, not '{}'", what, most, text);
          },
          ""};
}

inline CLI::Validator seconds_above_zero() { return above_zero("seconds", 1e9); }

/// A seed: 64 bits, not negative. The parser's own numbers wrap.
inline void add_seed(CLI::App* command, std::optional<std::uint64_t>& into, const char* help) {
  command
      ->add_option_function<std::string>(
          "--seed",
          [&into](const std::string& text) {
            std::uint64_t seed = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
            if (error != std::errc() || end != text.data() + text.size())
              throw CLI::ValidationError("--seed " + text, "expected a whole number from 0 to 18446744073709551615");
            into = seed;
          },
          help)
      ->type_name("NUMBER");
}

template <class T>
void add_file(CLI::App* command, const char* name, T& into, const std::string& help) {
  command->add_option(name, into, help)->required()->type_name("");
}

/// Which models, where, with which key.
inline void add_models(CLI::App* command, MindOptions& options) {
  add_value(command, "--model", options.models, "NAME", "A language model, as its endpoint knows it; may be repeated")
      ->expected(1)
      ->take_all();
  add_value(command, "--base-url", options.base_urls, "URL",
            "Its OpenAI-compatible endpoint (default: https://api.openai.com/v1); one for all models or one each")
      ->expected(1)
      ->take_all();
  add_value(command, "--models", options.models_file, "FILE", "Models with their prices and limits (docs/formats.md)");
  add_value(command, "--key-file", options.key_file, "FILE",
            "The key, in a file of yours alone (default: OPENAI_API_KEY)");
}

/// Who proposes kernels, what they may spend, and how they are asked.
inline void define_minds(CLI::App* command, MindOptions& options) {
  add_value(command, "--mind", options.minds, "NAMES",
            "Who proposes kernels: builtin (default), llm, command, or several: builtin,llm");
  add_models(command, options);
  add_value(command, "--context", options.context_tokens, "TOKENS",
            "With --model: prompt and reply together (default: 32768)")
      ->check(whole_number(1024, 100000000));
  add_value(command, "--max-tokens", options.max_tokens, "NUMBER", "Most tokens, prompts and replies of all models")
      ->check(whole_number(1, 2000000000));
  add_value(command, "--max-cost", options.max_cost, "USD", "Most money; needs prices (--models)")
      ->check(above_zero("an amount", 1e9));
  add_value(command, "--prompt-rule", options.prompt_rule, "NAME",
            "How the models' prompts evolve: mean (default), published (for comparison), frozen (not at all)");
  add_value(command, "--prompts", options.prompts, "shared|own",
            "Whether prompts begin with what earlier runs for the target found, and are left for later ones (default: "
            "shared)")
      ->check(CLI::IsMember({"shared", "own"}).description(""));
  add_value(command, "--knowledge", options.knowledge, "on|off",
            "Whether models and programs are shown what the target's language offers (default: on)")
      ->check(CLI::IsMember({"on", "off"}).description(""));
  add_value(command, "--agent-command", options.agent_command, "COMMAND",
            "With --mind command: a program that writes a kernel into the folder it is started in");
  add_value(command, "--agent-time", options.agent_seconds, "SECONDS", "Its time for one kernel (default: 600)")
      ->check(seconds_above_zero());
  add_value(command, "--record-chats", options.record_chats, "FILE", "Append every exchange with a model to this file");
  add_value(command, "--replay-chats", options.replay_chats, "FILE", "Models answer from such a file alone, offline");
}

/// A model that says how alike texts are.
inline void add_embedding(CLI::App* command, EmbeddingOptions& options) {
  add_value(command, "--embedding-model", options.model, "NAME",
            "A model that helps to find similar tasks and fitting skills (default: none)");
  add_value(command, "--embedding-url", options.url, "URL",
            "Its OpenAI-compatible endpoint (default: https://api.openai.com/v1)");
}

/// "cpu, opencl or cuda".
inline std::string target_choices() {
  auto names = target_names();
  const std::string last = names.back();
  names.pop_back();
  return names.empty() ? last : join(names, ", ") + " or " + last;
}

/// ".cpp, .cl, .cu".
inline std::string kernel_extensions() {
  std::vector<std::string> extensions;
  for (const auto& target : target_descriptions())
    if (std::find(extensions.begin(), extensions.end(), target.file_extension) == extensions.end())
      extensions.push_back(target.file_extension);
  return join(extensions, ", ");
}

}  // namespace kerf::cli
