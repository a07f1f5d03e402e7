// The list of targets. A new one is a folder under language/ and device/ and one line here.

#include <cstdio>

#include "base/text.hpp"
#include "target/entry.hpp"

namespace kerf {
namespace {

std::vector<TargetEntry> all_targets() { return {cpu_target(), opencl_target(), cuda_target()}; }

}  // namespace

std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const TargetEntry& entry : all_targets()) names.push_back(entry.name);
  return names;
}

std::string target_for_extension(const std::string& extension) {
  for (const TargetEntry& entry : all_targets())
    if (entry.file_extension == extension) return entry.name;
  return "";
}

Result<Target> make_target(const std::string& name, const TargetResources& context, const std::string& device,
                           bool compile_only) {
  for (const TargetEntry& entry : all_targets())
    if (entry.name == name) return entry.make(context, device, compile_only);
  return fail(Errc::invalid_input, "unknown target '" + name + "'" + did_you_mean(name, target_names()) +
                                       "; choose one of: " + join(target_names(), ", "));
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
