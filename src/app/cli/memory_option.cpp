#include "app/cli/memory_option.hpp"

#include <fmt/format.h>

namespace kerf::cli {

std::filesystem::path memory_file(const std::string& option, const Environment& environment) {
  if (option == "off") return {};
  return option.empty() ? environment.memory : std::filesystem::path(option);
}

std::string kept_memory(const std::string& option) {
  if (option.empty() || option == "off") return option;
  std::error_code error;
  const auto whole = std::filesystem::absolute(option, error);
  return error ? option : whole.string();
}

Result<std::unique_ptr<MemoryStore>> open_memory(const std::string& option, const Environment& environment,
                                                 Console& console) {
  const auto file = memory_file(option, environment);
  if (file.empty()) return nullptr;
  auto store = open_memory_store(file);
  if (store || !option.empty()) return store;
  console.err << fmt::format("warning: {}\n", store.error().message) << std::flush;
  return nullptr;
}

Result<std::unique_ptr<SkillStore>> open_skills(const std::string& option, const Environment& environment) {
  const auto file = memory_file(option, environment);
  if (file.empty()) return nullptr;
  auto store = open_skill_store(file);
  if (store || !option.empty()) return store;
  return nullptr;  // opening the memory has warned already
}

Result<std::unique_ptr<PromptStore>> open_prompts(const std::string& option, const Environment& environment) {
  const auto file = memory_file(option, environment);
  if (file.empty()) return nullptr;
  auto store = open_prompt_store(file);
  if (store || !option.empty()) return store;
  return nullptr;  // likewise
}

}  // namespace kerf::cli
