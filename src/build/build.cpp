#include "build/build.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "build/artifact_sources.hpp"

namespace kerf {
namespace {

using Json = nlohmann::json;
constexpr int kArtifactSchema = 2;

Json facts_to_json(const StaticFacts& facts) {
  Json kernels = Json::array();
  for (const KernelFacts& k : facts.kernels)
    kernels.push_back({{"name", k.name},
                       {"registers", k.registers},
                       {"shared_bytes", k.shared_bytes},
                       {"local_bytes", k.local_bytes},
                       {"max_threads", k.max_threads}});
  return {{"writable_globals", facts.writable_globals},
          {"forbidden_symbols", facts.forbidden_symbols},
          {"constructors", facts.constructors},
          {"kernels", kernels}};
}

StaticFacts facts_from_json(const Json& json) {
  StaticFacts facts;
  json.at("writable_globals").get_to(facts.writable_globals);
  json.at("forbidden_symbols").get_to(facts.forbidden_symbols);
  json.at("constructors").get_to(facts.constructors);
  for (const Json& k : json.at("kernels"))
    facts.kernels.push_back(
        {k.at("name"), k.at("registers"), k.at("shared_bytes"), k.at("local_bytes"), k.at("max_threads")});
  return facts;
}

/// One JSON header line, then the raw bytes.
std::string serialise(const Artifact& artifact) {
  const Json header = {{"schema", kArtifactSchema},
                       {"kind", artifact_kind_name(artifact.kind)},
                       {"language", artifact.language},
                       {"id", artifact.id},
                       {"facts", facts_to_json(artifact.facts)},
                       {"hint", artifact.disassembly_hint},
                       {"size", artifact.bytes.size()}};
  return header.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n" + artifact.bytes;
}

/// Nothing for a file that is cut, of another version, or not ours: it is then compiled again.
std::optional<Artifact> deserialise(const std::string& text) {
  const auto end = text.find('\n');
  if (end == std::string::npos) return std::nullopt;
  try {
    const Json header = Json::parse(text.substr(0, end));
    if (header.at("schema") != kArtifactSchema) return std::nullopt;
    Artifact artifact;
    const auto kind = artifact_kind(header.at("kind").get<std::string>());
    if (!kind) return std::nullopt;
    artifact.kind = *kind;
    header.at("language").get_to(artifact.language);
    header.at("id").get_to(artifact.id);
    header.at("hint").get_to(artifact.disassembly_hint);
    artifact.facts = facts_from_json(header.at("facts"));
    artifact.bytes = text.substr(end + 1);
    if (artifact.bytes.size() != header.at("size").get<std::size_t>() || sha256_hex(artifact.bytes) != artifact.id)
      return std::nullopt;
    return artifact;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

BuildCache::BuildCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

Result<CompileOutcome> BuildCache::compile(Language& language, const CompileRequest& request) {
  const std::string key = cache_key(language, request);
  {
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return !under_way_.contains(key); });
    if (const auto found = known_.find(key); found != known_.end()) {
      ++hits_;
      return found->second;
    }
    under_way_.insert(key);
  }
  struct Leave {  // whatever happens, nobody waits for ever
    BuildCache& cache;
    const std::string& key;
    ~Leave() {
      {
        const std::lock_guard lock(cache.mutex_);
        cache.under_way_.erase(key);
      }
      cache.done_.notify_all();
    }
  } leave{*this, key};
  return find_or_compile(language, request, key);
}

Result<CompileOutcome> BuildCache::find_or_compile(Language& language, const CompileRequest& request,
                                                   const std::string& key) {
  const auto file = folder_.empty() ? std::filesystem::path{} : folder_ / key.substr(0, 2) / key;
  if (!file.empty()) {
    if (const auto text = read_file(file)) {
      if (auto artifact = deserialise(*text)) {
        const std::lock_guard lock(mutex_);
        ++hits_;
        return known_.emplace(key, CompileOutcome(*std::move(artifact))).first->second;
      }
    }
  }
  KERF_TRY(CompileOutcome outcome, language.compile(request));
  // Only artifacts go to disk: a failure may come from a loaded machine (time limit) and is cheap to find again.
  Status written;
  if (const auto* artifact = std::get_if<Artifact>(&outcome); artifact != nullptr && !file.empty())
    written = write_file_atomic(file, serialise(*artifact));
  const std::lock_guard lock(mutex_);
  if (!written && write_error_.empty()) write_error_ = written.error().message;
  ++misses_;
  return known_.emplace(key, std::move(outcome)).first->second;
}

int BuildCache::hits() const {
  const std::lock_guard lock(mutex_);
  return hits_;
}
int BuildCache::misses() const {
  const std::lock_guard lock(mutex_);
  return misses_;
}

std::string BuildCache::write_error() const {
  const std::lock_guard lock(mutex_);
  return write_error_;
}

CompileRequest make_request(const Candidate& candidate, const Bindings& constants, const std::string& arch) {
  CompileRequest request;
  request.source = candidate.source;
  request.constants = constants;
  request.arch = arch;
  for (const Launch& launch : candidate.plan.launches)
    if (std::find(request.entry_points.begin(), request.entry_points.end(), launch.kernel) ==
        request.entry_points.end())
      request.entry_points.push_back(launch.kernel);
  return request;
}

std::string cache_key(const Language& language, const CompileRequest& request) {
  std::string text;
  const auto part = [&](std::string_view piece) {
    text += std::to_string(piece.size());
    text += ':';
    text += piece;
  };
  part(artifact_sources());
  part(language.name());
  part(language.version());
  part(request.arch);
  for (const auto& [name, value] : request.constants) {
    part(name);
    part(std::to_string(value));
  }
  for (const auto& entry : request.entry_points) part(entry);
  part(request.source);
  return sha256_hex(text);
}

}  // namespace kerf
