#include "run/target_session.hpp"

namespace kerf {

Result<std::unique_ptr<TargetSession>> TargetSession::open(const Task& task, const std::string& name,
                                                           const std::string& device, const TargetResources& resources,
                                                           Builds builds) {
  KERF_TRY(Target target, make_target(name, resources, device));
  std::optional<Target> cpp;
  if (task.cpp && name != cpp_reference_target()) {
    KERF_TRY(cpp, make_target(cpp_reference_target(), resources));
  }
  const bool kept = builds == Builds::kept && !resources.cache.empty();
  return std::unique_ptr<TargetSession>(new TargetSession(std::move(target), std::move(cpp),
                                                          kept ? resources.cache / "builds" : std::filesystem::path()));
}

}  // namespace kerf
