// The GPU worker process: takes the judge's requests one after another and answers each.

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <map>

#include <fmt/format.h>

#include "device/cuda/cuda_device.hpp"
#include "device/cuda/protocol.hpp"
#include "device/cuda/session.hpp"
#include "worker/link.hpp"
#include "worker/message.hpp"

namespace kerf {
namespace cuda {
namespace {

using worker::Reader;
using worker::Writer;

std::vector<std::uint64_t> read_numbers(Reader& in) {
  std::vector<std::uint64_t> numbers(in.count());
  for (auto& number : numbers) number = in.get<std::uint64_t>();
  return numbers;
}

void write_numbers(Writer& out, const std::vector<std::uint64_t>& numbers) {
  out.put<std::uint64_t>(numbers.size());
  for (const auto number : numbers) out.put(number);
}

Answer answer_for(const Error& error) {
  if (error.code == Errc::unavailable) return Answer::out_of_memory;
  return error.code == Errc::invalid_input ? Answer::refused : Answer::broken;
}

std::string failure(const Error& error) { return Writer().put(answer_for(error)).text(error.message).bytes(); }
std::string success() { return Writer().put(Answer::ok).bytes(); }
std::string plain(const Status& status) { return status ? success() : failure(status.error()); }

void write(Writer& out, const ComparePartial& part) {
  out.put(part.compared).put(part.wrong).put(part.squares).put(part.sum_squares);
  out.put(part.worst_ratio).put(part.worst).put(part.worst_actual).put(part.worst_expected).put(part.worst_bound);
  out.put(part.largest).put(part.worst_run);
  out.put(part.expected_sum).put(part.bound_sum);
}

class Server {
 public:
  Server(Session session, worker::Link link) : session_(std::move(session)), link_(std::move(link)) {}

  int serve() {
    for (;;) {
      int descriptor = -1;
      const auto request = link_.receive(worker::Link::kNoLimit, &descriptor);
      if (!request) return 0;
      Reader in(*request);
      const auto command = in.get<Command>();
      const std::string answer = handle(command, in, descriptor);
      if (descriptor >= 0) ::close(descriptor);
      if (!link_.send(answer)) return 0;
    }
  }

 private:
  std::string handle(Command command, Reader& in, int descriptor) {
    switch (command) {
      case Command::setup: return setup(in, descriptor);
      case Command::layout: return layout(in);
      case Command::data_make:
      case Command::data_write:
      case Command::data_seal:
      case Command::data_drop: return data(command, in);
      case Command::data_draw: return draw(in);
      case Command::data_oracle: return oracle(in);
      case Command::load: return load(in);
      case Command::unload: session_.unload(in.get<std::uint64_t>()); return success();
      case Command::follow: return follow(in);
      case Command::read:
      case Command::write: return transfer(command, in);
      case Command::reset: session_.reset(); return success();
    }
    return failure({Errc::invalid_input, "unknown command"});
  }

  std::string setup(Reader& in, int descriptor) {
    const auto cubin = in.view();
    std::string local_cubin = in.text();
    const auto bytes = in.get<std::uint64_t>();
    if (!in.ok() || descriptor < 0) return malformed();
    void* staging = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (staging == MAP_FAILED) return failure({Errc::io, "cannot map the staging memory"});
    return plain(session_.setup(cubin, std::move(local_cubin), staging, bytes));
  }

  std::string layout(Reader& in) {
    const auto red_key = in.get<std::uint64_t>(), sum_key = in.get<std::uint64_t>(), slots = in.get<std::uint64_t>();
    const auto buffers = read_numbers(in);
    return in.ok() ? plain(session_.layout(red_key, sum_key, slots, buffers)) : malformed();
  }

  std::string data(Command command, Reader& in) {
    const auto id = in.get<std::uint64_t>();
    if (command == Command::data_make) {
      const auto arrays = read_numbers(in);
      return in.ok() ? plain(session_.data_make(id, arrays)) : malformed();
    }
    if (command == Command::data_write) {
      const auto array = in.get<std::uint64_t>(), offset = in.get<std::uint64_t>();
      const auto staging = in.get<std::uint64_t>(), bytes = in.get<std::uint64_t>();
      return in.ok() ? plain(session_.data_write(id, array, offset, staging, bytes)) : malformed();
    }
    if (command == Command::data_seal) {
      const auto inputs = in.get<std::uint64_t>();
      return in.ok() ? plain(session_.data_seal(id, inputs)) : malformed();
    }
    session_.data_drop(id);
    return success();
  }

  std::string draw(Reader& in) {
    const auto id = in.get<std::uint64_t>(), array = in.get<std::uint64_t>();
    DrawRequest request;
    for (auto* field : {&request.dtype, &request.count, &request.seed, &request.form}) *field = in.get<std::uint64_t>();
    request.a = in.get<double>();
    request.b = in.get<double>();
    return in.ok() ? plain(session_.data_draw(id, array, request)) : malformed();
  }

  std::string oracle(Reader& in) {
    OracleRequest request;
    request.id = in.get<std::uint64_t>();
    request.inputs = in.get<std::uint64_t>();
    request.cubin = in.text();
    request.scratch = read_numbers(in);
    request.launches.resize(in.count());
    for (auto& launch : request.launches) launch = read_launch(in);
    request.outputs.resize(in.count());
    for (auto& output : request.outputs) {
      for (auto* field : {&output.dtype, &output.count, &output.wide_bound, &output.expected_key, &output.bound_key,
                          &output.second_key}) {
        *field = in.get<std::uint64_t>();
      }
    }
    if (!in.ok()) return malformed();
    const auto sums = session_.data_oracle(request);
    if (!sums) return failure(sums.error());
    Writer out;
    out.put(Answer::ok);
    write_numbers(out, *sums);
    return out.bytes();
  }

  std::string load(Reader& in) {
    const auto handle = in.get<std::uint64_t>();
    const auto cubin = in.text();
    const auto scratch = read_numbers(in);
    std::vector<LaunchNumbers> launches(in.count());
    for (auto& launch : launches) launch = read_launch(in);
    return in.ok() ? plain(session_.load(handle, cubin, scratch, std::move(launches))) : malformed();
  }

  static StepRequest read_step(Reader& in) {
    StepRequest step;
    step.kind = in.get<std::uint64_t>();
    if (step.kind == StepRequest::run) {
      step.timed = in.get<std::uint64_t>();
      step.slots = read_numbers(in);
      return step;
    }
    for (auto* field : {&step.slot, &step.id, &step.inputs}) *field = in.get<std::uint64_t>();
    if (step.kind == StepRequest::stage) {
      step.poison = in.get<std::uint64_t>();
      return step;
    }
    step.nan_is_free = in.get<std::uint64_t>();
    step.outputs.resize(in.count());
    for (auto& output : step.outputs) {
      for (auto* field : {&output.buffer, &output.dtype, &output.count, &output.wide_bound, &output.expected_key,
                          &output.bound_key, &output.second_key}) {
        *field = in.get<std::uint64_t>();
      }
      for (auto* field : {&output.most, &output.unit, &output.relative, &output.absolute}) *field = in.get<double>();
    }
    return step;
  }

  static void write_check(Writer& out, const CheckAnswer& check) {
    out.put<std::uint64_t>(check.outputs.size());
    for (std::size_t o = 0; o < check.outputs.size(); ++o) {
      write(out, check.outputs[o]);
      for (const auto number : check.octaves[o]) out.put(number);
    }
    write_numbers(out, check.changed_inputs);
    write_numbers(out, check.broken_buffers);
    out.put<std::uint64_t>(check.broken_scratch.size());
    for (const auto& [handle, index] : check.broken_scratch) out.put(handle).put<std::uint64_t>(index);
  }

  std::string follow(Reader& in) {
    const auto handle = in.get<std::uint64_t>();
    std::vector<StepRequest> steps(in.count());
    for (auto& step : steps) step = read_step(in);
    if (!in.ok()) return malformed();
    const auto answers = session_.follow(handle, steps);
    if (!answers) return failure(answers.error());
    Writer out;
    out.put(Answer::ok);
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const StepAnswer& answer = (*answers)[i];
      switch (steps[i].kind) {
        case StepRequest::stage: out.put<std::uint64_t>(answer.intact); break;
        case StepRequest::run:
          out.put(answer.times.device_us).put(answer.times.host_us).put(answer.times.delay_us);
          break;
        default: write_check(out, answer.check);
      }
    }
    return out.bytes();
  }

  std::string transfer(Command command, Reader& in) {
    const auto slot = in.get<std::uint64_t>(), buffer = in.get<std::uint64_t>(), offset = in.get<std::uint64_t>();
    const auto staging = in.get<std::uint64_t>(), bytes = in.get<std::uint64_t>();
    if (!in.ok()) return malformed();
    return plain(command == Command::read ? session_.read(slot, buffer, offset, staging, bytes)
                                          : session_.write(slot, buffer, offset, staging, bytes));
  }

  static std::string malformed() { return failure({Errc::invalid_input, "a malformed request"}); }

  Session session_;
  worker::Link link_;
};

}  // namespace
}  // namespace cuda

int cuda_worker_main(std::span<const std::string> args) {
  std::map<std::string, std::string> values;
  for (std::size_t i = 0; i + 1 < args.size(); i += 2) values[args[i]] = args[i + 1];
  auto link = worker::enter_worker(0);
  if (!link) {
    std::fprintf(stderr, "%s\n", link.error().message.c_str());
    return 2;
  }
  auto session = cuda::Session::create(values["--driver"], std::atoi(values["--device"].c_str()));
  worker::Writer greeting;
  greeting.put<bool>(session.has_value()).text(session ? "" : session.error().message);
  if (!link->send(greeting.bytes()) || !session) return 1;
  const int code = cuda::Server(std::move(*session), std::move(*link)).serve();
  std::fflush(nullptr);
  ::_exit(code);  // the driver's own exit handlers can hang behind a stuck kernel
}

}  // namespace kerf
