#pragma once
// A language without a compiler, for tests: an artifact is the text of its request, outcomes are scripted.

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "codegen/dialects/dialects.hpp"
#include "language/language.hpp"

namespace kerf {

/// Calls may come from several threads; scripts are set before.
class FakeLanguage final : public Language {
 public:
  std::string version_text = "1";
  bool fails = false;                               ///< every compile fails with the log "no"
  std::function<void()> meanwhile;                  ///< called once, during the next compile
  ArtifactKind kind = ArtifactKind::shared_object;  ///< of every artifact
  StaticFacts facts;                                ///< likewise
  /// Asked first; none: an artifact of the request.
  std::function<std::optional<CompileOutcome>(const CompileRequest& request)> script;

  std::string_view name() const override { return "fake"; }
  std::string version() const override { return version_text; }
  const codegen::DialectTraits& dialect() const override { return codegen::dialects::cpp; }
  std::vector<CalibrationKernel> calibration_kernels(const std::string&) const override { return {}; }

  Result<CompileOutcome> compile(const CompileRequest& request) override {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(request);
    }
    if (meanwhile) std::exchange(meanwhile, nullptr)();
    if (fails) return CompileOutcome(CompileFailed{"no"});
    if (script)
      if (auto scripted = script(request)) return *std::move(scripted);
    return CompileOutcome(artifact(request));
  }

  /// What a request compiles to: its constants, one a line, and its source after a byte that no text holds.
  Artifact artifact(const CompileRequest& request) const {
    Artifact made;
    made.kind = kind;
    made.language = "fake";
    for (const auto& [name, value] : request.constants) made.bytes += name + "=" + std::to_string(value) + "\n";
    made.bytes += '\0' + request.source;
    made.id = sha256_hex(made.bytes);
    made.facts = facts;
    return made;
  }

  int compiles() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(requests_.size());
  }

 private:
  mutable std::mutex mutex_;
  std::vector<CompileRequest> requests_;  // guarded by mutex_
};

}  // namespace kerf
