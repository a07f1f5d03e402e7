#include "measure/calibrate.hpp"

#include <algorithm>
#include <array>

#include "model/candidate.hpp"
#include "oracle/reference.hpp"

namespace kerf {
namespace {

constexpr int kRepeats = 15;
constexpr int kMostRepeats = 400;
constexpr double kHostPatienceUs = 1.5e6;

/// Fastest call in microseconds, or an error that says why the kernel could not be run.
Result<double> fastest_us(Language& language, Device& device, const CalibrationKernel& kernel) {
  KERF_TRY(const Candidate candidate, parse_candidate("calibration " + kernel.peak, kernel.source));
  CompileRequest request;
  request.source = kernel.source;
  request.constants = {{"n", kernel.n}};
  request.arch = device.facts().arch;
  for (const Launch& launch : candidate.plan.launches) request.entry_points.push_back(launch.kernel);
  KERF_TRY(const CompileOutcome outcome, language.compile(request));
  if (const auto* failed = std::get_if<CompileFailed>(&outcome)) return fail(Errc::tool_failed, failed->log);

  ProblemLayout layout;
  layout.buffers = {{"x", DType::f32, {kernel.n}, BufferRole::input},
                    {"y", DType::f32, {kernel.n}, BufferRole::output}};
  layout.slots = 2;
  KERF_TRY(const auto bench, device.open(layout));
  KERF_TRY(const auto loaded, bench->load(std::get<Artifact>(outcome), candidate.plan, request.constants));
  if (const auto* fault = std::get_if<Fault>(&loaded)) return fail(Errc::tool_failed, fault->message);
  oracle::DataSet data;
  data.id = oracle::next_data_id();
  data.shape = data.distribution = "calibration";
  data.inputs.push_back(ir::make_tensor(DType::f32, {kernel.n}));
  for (std::int64_t i = 0; i < kernel.n; ++i)
    data.inputs[0].as<float>()[i] = 1.0F + static_cast<float>(i % 251) / 256.0F;
  for (int slot = 0; slot < layout.slots; ++slot) KERF_TRY_VOID(bench->stage(slot, data, Poison::a));

  // Other load on a host's cores makes a peak look low, and a low peak makes honest kernels look impossible: there the
  // calibration goes on until it has had a fair chance of a quiet moment.
  double best = 0, spent_us = 0;
  const double patience_us = device.facts().runs_on_host ? kHostPatienceUs : 0;
  for (int i = 0; i < kRepeats || (spent_us < patience_us && i < kMostRepeats); ++i) {
    const std::array<int, 1> slots{i % layout.slots};
    KERF_TRY(const RunOutcome ran, bench->run(std::get<KernelHandle>(loaded), slots, std::chrono::seconds(20)));
    if (const auto* fault = std::get_if<Fault>(&ran)) return fail(Errc::tool_failed, fault->message);
    const auto& timing = std::get<Timing>(ran);
    const double us = timing.device_us > 0 ? timing.device_us : timing.host_us;
    best = best == 0 ? us : std::min(best, us);
    spent_us += us;
  }
  return best;
}

}  // namespace

Result<Peaks> calibrate(Language& language, Device& device) {
  Peaks peaks;
  peaks.device = device.facts().name;
  std::string last_error = "the language has no calibration kernels";
  for (const CalibrationKernel& kernel : language.calibration_kernels(device.facts().arch)) {
    const auto us = fastest_us(language, device, kernel);
    if (us && *us > 0) peaks.rates[kernel.peak] = std::max(peaks.rates[kernel.peak], kernel.work / (*us * 1e-6));
    if (!us) last_error = kernel.peak + ": " + us.error().message;
  }
  if (peaks.rates.find("copy") == peaks.rates.end())
    return fail(Errc::tool_failed, "cannot calibrate " + device.facts().name + ": " + last_error);
  return peaks;
}

}  // namespace kerf
