// The list of targets. A new one is a folder under language/ and device/ and one line here.

#include <cstdio>

#include "base/text.hpp"
#include "target/entry.hpp"

namespace kerf {
namespace {

const std::vector<TargetEntry>& all_targets() {
  static const std::vector<TargetEntry> all{cpu_target(), opencl_target(), cuda_target()};
  return all;
}

}  // namespace

const std::vector<TargetDescription>& target_descriptions() {
  static const std::vector<TargetDescription> descriptions = [] {
    std::vector<TargetDescription> found;
    for (const TargetEntry& entry : all_targets()) found.push_back(entry.description);
    return found;
  }();
  return descriptions;
}

const TargetDescription* find_target(std::string_view name) {
  for (const TargetDescription& target : target_descriptions())
    if (target.name == name) return &target;
  return nullptr;
}

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const TargetDescription& target : target_descriptions()) names.push_back(target.name);
  return names;
}

std::string default_target() { return target_descriptions().front().name; }

std::string target_extension(std::string_view name) {
  const TargetDescription* target = find_target(name);
  return target == nullptr ? ".txt" : target->file_extension;
}

std::string target_for_extension(std::string_view extension) {
  for (const TargetDescription& target : target_descriptions())
    if (target.file_extension == extension) return target.name;
  return "";
}

std::string cpp_reference_target() {
  for (const TargetDescription& target : target_descriptions())
    if (target.runs_cpp_references) return target.name;
  return "";
}

Status check_target_name(const std::string& name) {
  if (find_target(name) != nullptr) return {};
  return fail(Errc::invalid_input, "unknown target '" + name + "'" + did_you_mean(name, target_names()) +
                                       "; choose one of: " + join(target_names(), ", "));
}

bool is_target_variable(std::string_view name) {
  for (const TargetDescription& target : target_descriptions())
    for (const std::string_view known : target.environment)
      if (known.ends_with('*') ? name.starts_with(known.substr(0, known.size() - 1)) : name == known) return true;
  return false;
}

Result<Target> make_target(const std::string& name, const TargetResources& context, const std::string& device,
                           bool compile_only) {
  for (const TargetEntry& entry : all_targets())
    if (entry.description.name == name) return entry.make(context, device, compile_only);
  return tl::unexpected(check_target_name(name).error());
}

std::vector<Finding> diagnose(const TargetResources& context) {
  std::vector<Finding> all;
  for (const TargetEntry& entry : all_targets())
    for (Finding& finding : entry.diagnose(context)) all.push_back(std::move(finding));
  return all;
}

int worker_main(const std::string& kind, std::span<const std::string> args) {
  for (const TargetEntry& entry : all_targets())
    for (const WorkerEntry& worker : entry.workers)
      if (worker.kind == kind) return worker.main(args);
  std::fprintf(stderr, "kerf: unknown worker '%s'\n", kind.c_str());
  return 2;
}

Result<int> device_index(const std::string& device, const std::string& kind) {
  if (device.empty() || device == kind) return 0;
  const auto bad =
      fail(Errc::invalid_input, "unknown device '" + device + "': expected " + kind + ":N, for example " + kind + ":0");
  if (device.rfind(kind + ":", 0) != 0) return bad;
  const std::string number = device.substr(kind.size() + 1);
  if (number.empty() || number.size() > 3 || number.find_first_not_of("0123456789") != std::string::npos) return bad;
  return std::stoi(number);
}

}  // namespace kerf
