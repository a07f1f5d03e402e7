#include "app/cli/kernel_file.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "app/cli/commands.hpp"
#include "base/file.hpp"
#include "base/one_line.hpp"
#include "base/text.hpp"
#include "target/target.hpp"

namespace kerf::cli {

Result<std::string> choose_target(const std::string& path, const std::string& asked, const std::string& header) {
  if (!asked.empty() && !header.empty() && header != asked)
    return fail(Errc::invalid_input,
                fmt::format("{} is written for target '{}', but --target says '{}'", path, header, asked));
  if (!asked.empty()) return asked;
  if (!header.empty()) return header;
  const std::string extension = std::filesystem::path(path).extension().string();
  if (std::string target = target_for_extension(extension); !target.empty()) return target;
  return fail(Errc::invalid_input,
              fmt::format("cannot tell the target of {}: give --target, one of {}", path, join(target_names(), ", ")));
}

Result<std::string> read_kernel_text(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error))
    return fail(Errc::not_found, fmt::format("there is no kernel file '{}'", one_line(path)));
  return read_file(path);
}

Result<Candidate> read_kernel_file(const std::string& path, const std::string& target) {
  KERF_TRY(std::string source, read_kernel_text(path));
  KERF_TRY(Candidate candidate, parse_candidate(path, std::move(source)));
  KERF_TRY(candidate.target, choose_target(path, target, candidate.target));
  KERF_TRY_VOID(check_target_name(candidate.target));
  return candidate;
}

}  // namespace kerf::cli
