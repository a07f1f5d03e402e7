#include "model/artifact.hpp"

#include <array>
#include <utility>

namespace kerf {
namespace {

constexpr std::array<std::pair<ArtifactKind, std::string_view>, 4> kKinds{{
    {ArtifactKind::shared_object, "shared_object"},
    {ArtifactKind::cubin, "cubin"},
    {ArtifactKind::opencl_binary, "opencl_binary"},
    {ArtifactKind::opencl_ptx, "opencl_ptx"},
}};

}  // namespace

std::string_view artifact_kind_name(ArtifactKind kind) {
  for (const auto& [one, name] : kKinds)
    if (one == kind) return name;
  return "";
}

std::optional<ArtifactKind> artifact_kind(std::string_view name) {
  for (const auto& [kind, text] : kKinds)
    if (text == name) return kind;
  return std::nullopt;
}

}  // namespace kerf
