#include "model/candidate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/hash.hpp"
#include "base/text.hpp"
#include "model/candidate_header.hpp"
#include "model/names.hpp"

namespace kerf {
namespace {

// Far beyond what an honest kernel needs; they keep the number of configurations and launches finite in practice.
constexpr std::size_t kMaxSourceBytes = 8 << 20;
constexpr std::size_t kMaxTunables = 2048;
constexpr std::size_t kMaxValues = 64;
constexpr std::size_t kMaxRequirements = 4096;
constexpr std::size_t kMaxScratch = 1024;
constexpr std::size_t kMaxLaunches = 8192;  // the oracle of a network of 120 layers has 2200
constexpr std::size_t kMaxArgs = 256;

const std::vector<std::string> kKeys = {"target", "tune", "require", "scratch", "launch"};

auto bad(std::string message) { return fail(Errc::invalid_input, std::move(message)); }

Status check_count(std::size_t count, std::size_t limit, std::string_view what) {
  if (count >= limit) return bad(fmt::format("more than {} {}", limit, what));
  return {};
}

Status read_target(Candidate& candidate, const std::string& value) {
  if (!candidate.target.empty()) return bad("'target' is given twice");
  if (!is_identifier(value))
    return bad(fmt::format("'{}' is not a target name; write for example 'target: cuda'", value));
  candidate.target = value;
  return {};
}

Result<std::int64_t> read_integer(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    return bad(fmt::format("'{}' is not an integer", text.substr(0, 40)));
  return value;
}

Status read_tune(Candidate& candidate, const std::string& value) {
  KERF_TRY_VOID(check_count(candidate.tunables.size(), kMaxTunables, "tunables"));
  const auto equals = value.find('=');
  const std::string_view set =
      equals == std::string::npos ? std::string_view{} : trim(std::string_view(value).substr(equals + 1));
  if (!set.starts_with('{') || !set.ends_with('}') || set.size() < 2) return bad("expected 'tune: NAME = {1, 2, 4}'");
  Tunable tunable;
  tunable.name = trim(std::string_view(value).substr(0, equals));
  KERF_TRY_VOID(check_name("tunable", tunable.name));
  for (const auto& known : candidate.tunables)
    if (known.name == tunable.name) return bad(fmt::format("tunable '{}' is given twice", tunable.name));
  for (const auto& part : split(set.substr(1, set.size() - 2), ',')) {
    KERF_TRY_VOID(check_count(tunable.values.size(), kMaxValues, fmt::format("values for tunable '{}'", tunable.name)));
    auto number = read_integer(std::string(trim(part)));
    if (!number) return bad(fmt::format("tunable '{}': {}", tunable.name, number.error().message));
    if (std::find(tunable.values.begin(), tunable.values.end(), *number) != tunable.values.end())
      return bad(fmt::format("tunable '{}' lists {} twice", tunable.name, *number));
    tunable.values.push_back(*number);
  }
  candidate.tunables.push_back(std::move(tunable));
  return {};
}

Status read_require(Candidate& candidate, const std::string& value) {
  KERF_TRY_VOID(check_count(candidate.requirements.size(), kMaxRequirements, "requirements"));
  KERF_TRY(Dim condition, parse_dim(value));
  candidate.requirements.push_back(std::move(condition));
  candidate.requirement_texts.push_back(value);
  return {};
}

Status read_scratch(Candidate& candidate, const std::string& value) {
  if (value == "none") return {};
  auto& scratch = candidate.plan.scratch;
  KERF_TRY_VOID(check_count(scratch.size(), kMaxScratch, "scratch buffers"));
  const auto equals = value.find('=');
  if (equals == std::string::npos) return bad("expected 'scratch: none' or 'scratch: partial = f32[rows, 32]'");
  const auto name = trim(std::string_view(value).substr(0, equals));
  KERF_TRY_VOID(check_name("scratch buffer", name));
  for (const auto& known : scratch)
    if (known.name == name) return bad(fmt::format("scratch buffer '{}' is given twice", name));
  KERF_TRY(ir::TensorType type, ir::parse_tensor_type(name, trim(std::string_view(value).substr(equals + 1))));
  scratch.push_back(std::move(type));
  return {};
}

/// One expression, or two to three in parentheses.
/// Whether the first parenthesis closes at the very end: "(a, b)", but not "(a) * (b)".
bool is_one_bracket(std::string_view text) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')') --depth;
    if (depth == 0) return i > 0 && i + 1 == text.size();
  }
  return false;
}

Result<std::vector<Dim>> read_extents(const std::string& text, std::string_view what) {
  std::vector<std::string> parts{text};
  if (is_one_bracket(text)) {
    const auto inner = split_outside_brackets(std::string_view(text).substr(1, text.size() - 2), ',');
    if (inner.size() > 1) parts = inner;  // "(a)" and "(a) * (b)" stay one expression
  }
  if (parts.size() > 3) return bad(fmt::format("{} has {} extents; at most 3 are possible", what, parts.size()));
  std::vector<Dim> extents;
  for (const auto& part : parts) {
    if (part.empty()) return bad(fmt::format("{} has an empty extent", what));
    auto extent = parse_dim(part);
    if (!extent) return bad(fmt::format("{} extent '{}': {}", what, part, extent.error().message));
    extents.push_back(*std::move(extent));
  }
  return extents;
}

Result<std::vector<std::string>> read_args(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')')
    return bad(fmt::format("expected the buffers in parentheses behind '>>>', found '{}'", text.substr(0, 40)));
  const auto inner = trim(text.substr(1, text.size() - 2));
  if (inner.empty())
    return bad("a launch without buffers cannot compute anything; name inputs and outputs in parentheses");
  std::vector<std::string> args;
  for (const auto& part : split(inner, ',')) {
    KERF_TRY_VOID(check_count(args.size(), kMaxArgs, "arguments"));
    args.emplace_back(trim(part));
    if (!is_identifier(args.back()))
      return bad(
          fmt::format("argument '{}' is not the name of a buffer; numbers and shape symbols are compile-time "
                      "constants in the code and are not passed",
                      args.back().substr(0, 40)));
  }
  return args;
}

constexpr std::string_view kLaunchForm = "expected 'launch: kernel<<<grid, block>>>(buffers)'";

Status read_launch(Candidate& candidate, const std::string& value) {
  auto& launches = candidate.plan.launches;
  KERF_TRY_VOID(check_count(launches.size(), kMaxLaunches, "launches"));
  const std::string_view text = value;
  const auto open = text.find("<<<");
  const auto close = text.rfind(">>>");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open + 3)
    return bad(std::string(kLaunchForm));
  Launch launch;
  launch.kernel = trim(text.substr(0, open));
  if (!is_identifier(launch.kernel))
    return bad(fmt::format("'{}' is not a kernel's name; {}", launch.kernel, kLaunchForm));
  const auto geometry = split_outside_brackets(text.substr(open + 3, close - open - 3), ',');
  if (geometry.size() < 2 || geometry.size() > 3)
    return bad(fmt::format(
        "'<<<...>>>' has {} parts; write grid, block and, when needed, bytes of shared memory. Two or three "
        "extents go in parentheses: <<<(a, b), 256>>>",
        geometry.size()));
  KERF_TRY(launch.grid, read_extents(geometry[0], "grid"));
  KERF_TRY(launch.block, read_extents(geometry[1], "block"));
  if (geometry.size() == 3) {
    auto bytes = parse_dim(geometry[2]);
    if (!bytes) return bad(fmt::format("shared memory '{}': {}", geometry[2], bytes.error().message));
    launch.shared_bytes = *std::move(bytes);
  }
  KERF_TRY(launch.args, read_args(trim(text.substr(close + 3))));
  launches.push_back(std::move(launch));
  return {};
}

Status read_entry(Candidate& candidate, const HeaderEntry& entry) {
  if (entry.value.empty()) return bad(fmt::format("'{}' has no value", entry.key));
  if (entry.key == "target") return read_target(candidate, entry.value);
  if (entry.key == "tune") return read_tune(candidate, entry.value);
  if (entry.key == "require") return read_require(candidate, entry.value);
  if (entry.key == "scratch") return read_scratch(candidate, entry.value);
  return read_launch(candidate, entry.value);
}

}  // namespace

Result<Candidate> parse_candidate(std::string name, std::string source) {
  if (source.size() > kMaxSourceBytes) return bad(fmt::format("{}: larger than {} MiB", name, kMaxSourceBytes >> 20));
  auto entries = read_header(source, kKeys);
  if (!entries) return bad(fmt::format("{}:{}", name, entries.error().message));
  Candidate candidate;
  for (const auto& entry : *entries)
    if (auto status = read_entry(candidate, entry); !status)
      return bad(fmt::format("{}:{}: {}", name, entry.line, status.error().message));
  candidate.id = sha256_hex(source);
  candidate.name = std::move(name);
  candidate.source = std::move(source);
  return candidate;
}

}  // namespace kerf
