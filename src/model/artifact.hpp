#pragma once
// What a compiler made of a candidate for one shape set, and what can be read off it without running it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kerf {

/// Resources of one kernel, as the compiler reports them; -1 where the language cannot say.
struct KernelFacts {
  std::string name;
  int registers = -1;
  std::int64_t shared_bytes = -1;  ///< static shared (local) memory
  std::int64_t local_bytes = -1;   ///< stack and spills per thread
  int max_threads = -1;            ///< per block
};

/// Facts the static budget (verification rule 12) judges, language-neutral.
struct StaticFacts {
  std::vector<std::string> writable_globals;   ///< names of writable globals, with their size: "cache (4096 bytes)"
  std::vector<std::string> forbidden_symbols;  ///< imports or constructs outside the language's allowed set
  std::vector<std::string> constructors;       ///< code that would run at load time
  std::vector<KernelFacts> kernels;
};

/// What `Artifact::bytes` are, and so who can read them. Stored by name.
enum class ArtifactKind {
  shared_object,  ///< ELF, for the host's loader
  cubin,          ///< ELF for one GPU generation (model/cubin_images.hpp); `disassembly_hint` is its PTX where the
                  ///< compiler gives it
  opencl_binary,  ///< whatever the driver gives out; for that driver alone
  opencl_ptx,     ///< a driver's program binary that is PTX text; `disassembly_hint` is the same
};
std::string_view artifact_kind_name(ArtifactKind kind);
std::optional<ArtifactKind> artifact_kind(std::string_view name);

struct Artifact {
  ArtifactKind kind = ArtifactKind::shared_object;
  std::string language;          ///< Language::name() that made it
  std::string bytes;             ///< shared object, program binary, cubin, ...
  std::string disassembly_hint;  ///< optional text (PTX, ...) for descriptors; may be empty
  StaticFacts facts;
  std::string id;  ///< SHA-256 of `bytes`
};

/// Compiler output; a candidate that does not compile is data.
struct CompileFailed {
  std::string log;
};
using CompileOutcome = std::variant<Artifact, CompileFailed>;

}  // namespace kerf
