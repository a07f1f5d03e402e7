#include "verify/cpp_reference.hpp"

#include <array>
#include <cmath>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/rng.hpp"
#include "base/statistics.hpp"
#include "model/candidate.hpp"

namespace kerf {
namespace {

using Tensors = std::vector<ir::HostTensor>;

std::string c_type(DType dtype, const std::string& real) {
  switch (dtype) {
    case DType::i32: return "int";
    case DType::i64: return "long long";
    case DType::boolean: return "unsigned char";
    default: return real;
  }
}

/// Float tensors take the reference's type, the others stay as they are.
DType widened(DType dtype, DType real) { return is_float(dtype) ? real : dtype; }

ir::HostTensor converted(const ir::HostTensor& tensor, DType dtype) {
  if (tensor.dtype == dtype) return tensor;
  ir::HostTensor out = ir::make_tensor(dtype, tensor.shape);
  for (std::int64_t i = 0; i < tensor.elements(); ++i)
    store_element(dtype, out.bytes.data(), static_cast<std::size_t>(i),
                  load_element(tensor.dtype, tensor.bytes.data(), static_cast<std::size_t>(i)));
  return out;
}

class CppReferenceRunner final : public oracle::Reference {
 public:
  CppReferenceRunner(Task task, Language& language, Device& device)
      : task_(std::move(task)), language_(language), device_(device) {}

  Result<oracle::DataSet> expect(const ShapeSet& shape, Tensors inputs) const override {
    const std::lock_guard lock(mutex_);
    KERF_TRY(const Tensors exact, run(shape, inputs, DType::f64));
    oracle::DataSet data;
    KERF_TRY(data.bound, bounds(shape, inputs, exact));
    data.id = oracle::next_data_id();
    data.shape = shape.name;
    data.inputs = std::move(inputs);
    for (const auto& value : exact) data.expected.push_back(converted(value, is_float(value.dtype) ? DType::f64 : value.dtype == DType::boolean ? DType::boolean : DType::i64));
    data.nan_is_free = true;  // opaque code may select; NaN is not held against a candidate
    return data;
  }

 private:
  /// Outputs of the reference computed in `real` on `inputs`.
  Result<Tensors> run(const ShapeSet& shape, const Tensors& inputs, DType real) const {
    KERF_TRY(const Candidate candidate, parse_candidate(task_.cpp->path, cpp_reference_candidate(task_, real == DType::f64 ? "double" : "float")));
    CompileRequest request;
    request.source = candidate.source;
    request.constants = shape.symbols;
    request.arch = device_.facts().arch;
    KERF_TRY(const CompileOutcome outcome, language_.compile(request));
    if (const auto* failed = std::get_if<CompileFailed>(&outcome))
      return fail(Errc::invalid_input, "the reference " + task_.cpp->path + " does not compile:\n" + failed->log);

    ProblemLayout layout;
    oracle::DataSet data;
    data.id = oracle::next_data_id();
    data.shape = shape.name;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      data.inputs.push_back(converted(inputs[i], widened(inputs[i].dtype, real)));
      layout.buffers.push_back({task_.inputs[i].name, data.inputs[i].dtype, inputs[i].shape, BufferRole::input});
    }
    for (const auto& output : task_.outputs) {
      KERF_TRY(auto extents, evaluate(output.shape, shape.symbols));
      layout.buffers.push_back({output.name, widened(output.dtype, real), std::move(extents), BufferRole::output});
    }
    KERF_TRY(const auto bench, device_.open(layout));
    KERF_TRY(const auto loaded, bench->load(std::get<Artifact>(outcome), candidate.plan, shape.symbols));
    if (const auto* fault = std::get_if<Fault>(&loaded)) return reference_failed(fault->message);
    KERF_TRY_VOID(bench->stage(0, data, Poison::a));
    const std::array<int, 1> slots{0};
    KERF_TRY(const RunOutcome ran, bench->run(std::get<KernelHandle>(loaded), slots, std::chrono::minutes(2)));
    if (const auto* fault = std::get_if<Fault>(&ran)) return reference_failed(fault->message);
    Tensors outputs;
    for (std::size_t k = 0; k < task_.outputs.size(); ++k) {
      KERF_TRY(auto tensor, bench->read_output(0, static_cast<int>(k)));
      outputs.push_back(std::move(tensor));
    }
    return outputs;
  }

  tl::unexpected<Error> reference_failed(const std::string& why) const {
    return fail(Errc::invalid_input, "the reference " + task_.cpp->path + " failed to run: " + why);
  }

  Result<Tensors> bounds(const ShapeSet& shape, const Tensors& inputs, const Tensors& exact) const {
    const ir::ErrorModel model = oracle::error_model(task_.precision);
    const double unit = std::max(model.rounding, model.operand);
    Tensors scale;  // 2u|y| + 2 max |change|
    for (const auto& value : exact) {
      ir::HostTensor tensor = ir::make_tensor(DType::f64, value.shape);
      if (is_float(value.dtype))
        for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.as<double>()[i] = 2 * unit * std::fabs(value.as<double>()[i]);
      scale.push_back(std::move(tensor));
    }
    Rng rng(0x5eed);
    for (int draw = 0; draw < 3; ++draw) {
      Tensors perturbed;
      for (const auto& input : inputs) {
        perturbed.push_back(converted(input, widened(input.dtype, DType::f64)));
        if (!is_float(input.dtype)) continue;
        for (std::int64_t i = 0; i < input.elements(); ++i)
          perturbed.back().as<double>()[i] *= 1 + (rng.chance(0.5) ? unit : -unit);
      }
      KERF_TRY(const Tensors moved, run(shape, perturbed, DType::f64));
      for (std::size_t k = 0; k < exact.size(); ++k) {
        if (!is_float(exact[k].dtype)) continue;
        for (std::int64_t i = 0; i < exact[k].elements(); ++i) {
          const double base = 2 * unit * std::fabs(exact[k].as<double>()[i]);
          const double change = std::fabs(moved[k].as<double>()[i] - exact[k].as<double>()[i]);
          if (std::isfinite(change)) scale[k].as<double>()[i] = std::max(scale[k].as<double>()[i], base + 2 * change);
        }
      }
    }
    if (task_.precision == Precision::f64) return scale;
    KERF_TRY(const Tensors honest, run(shape, inputs, DType::f32));
    for (std::size_t k = 0; k < exact.size(); ++k) {
      if (!is_float(exact[k].dtype)) continue;
      const double factor = honest_factor(honest[k], exact[k], scale[k], model.tiny);
      for (std::int64_t i = 0; i < exact[k].elements(); ++i) scale[k].as<double>()[i] = factor * scale[k].as<double>()[i] + model.tiny;
    }
    return scale;
  }

  static double honest_factor(const ir::HostTensor& honest, const ir::HostTensor& exact, const ir::HostTensor& scale, double tiny) {
    std::vector<double> ratios;
    for (std::int64_t i = 0; i < exact.elements(); ++i) {
      const double error = std::fabs(static_cast<double>(honest.as<float>()[i]) - exact.as<double>()[i]);
      if (std::isfinite(error)) ratios.push_back(error / (scale.as<double>()[i] + tiny));
    }
    return ratios.empty() ? 1 : std::max(1.0, quantile(std::move(ratios), 0.999));
  }

  Task task_;
  Language& language_;
  Device& device_;
  mutable std::mutex mutex_;  // one bench at a time
};

}  // namespace

std::string cpp_reference_candidate(const Task& task, const std::string& real) {
  std::vector<std::string> params, args;
  for (const auto& input : task.inputs) {
    params.push_back(fmt::format("const {}* {}", c_type(input.dtype, real), input.name));
    args.push_back(input.name);
  }
  for (const auto& output : task.outputs) {
    params.push_back(fmt::format("{}* {}", c_type(output.dtype, real), output.name));
    args.push_back(output.name);
  }
  return fmt::format(
      "/* kerf\ntarget: cpu\n*/\n#line 1 \"{}\"\n{}\n\nextern \"C\" void kerf_kernel({}) {{\n  reference<{}>({});\n}}\n",
      task.cpp->path, task.cpp->source, fmt::join(params, ", "), real, fmt::join(args, ", "));
}

Result<std::unique_ptr<oracle::Reference>> make_cpp_reference(const Task& task, Language& language, Device& device) {
  KERF_CHECK(task.cpp.has_value(), "a C++ reference needs a source");
  return std::make_unique<CppReferenceRunner>(task, language, device);
}

}  // namespace kerf
