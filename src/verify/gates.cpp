#include "verify/gates.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "task/task.hpp"

namespace kerf {
Refusal refusal_from(const Fault& fault, Gate gate) {
  switch (fault.kind) {
    case Fault::Kind::timed_out: return TimedOut{gate, fault.message};
    case Fault::Kind::forbidden: return Rejected{Gate::sandbox, fault.message};
    case Fault::Kind::crashed: break;
  }
  return Crashed{gate, fault.message};
}

bool worker_lives(const Refusal& refusal) {
  if (std::holds_alternative<WrongResult>(refusal)) return true;
  const auto* rejected = std::get_if<Rejected>(&refusal);
  return rejected != nullptr && rejected->gate != Gate::sandbox && rejected->gate != Gate::side_effects;
}

Outcome to_outcome(Refusal refusal) {
  return std::visit([](auto&& alternative) -> Outcome { return std::forward<decltype(alternative)>(alternative); },
                    std::move(refusal));
}

std::optional<Refusal> judge_header(const Candidate& candidate, const HeaderRules& rules) {
  const auto refuse = [](std::string why) { return Rejected{Gate::parse, std::move(why)}; };
  if (candidate.target != rules.target)
    return refuse(fmt::format("the kernel is written for target '{}', not '{}'", candidate.target, rules.target));
  if (const auto status = check_against(rules.task, candidate); !status) return refuse(status.error().message);
  if (candidate.plan.launches.empty() && !rules.host_entry)
    return refuse(
        "the header has no `launch:` line, so there is nothing to run; add e.g. launch: "
        "my_kernel<<<ceil_div(n, 256), 256>>>(x, y)");
  for (const ShapeSet& shape : rules.shapes) {
    Bindings constants = shape.symbols;
    constants.insert(rules.tunables.begin(), rules.tunables.end());
    for (std::size_t i = 0; i < candidate.requirements.size(); ++i) {
      const std::string& text = candidate.requirement_texts[i];
      const auto value = candidate.requirements[i].evaluate(constants);
      if (!value) return refuse("require: " + text + ": " + value.error().message);
      if (*value == 0)
        return refuse(
            fmt::format("require: {} does not hold for shape '{}'; a kernel must handle every shape of the task", text,
                        shape.name));
    }
  }
  return std::nullopt;
}

std::optional<Refusal> judge_static(const StaticFacts& facts) {
  if (!facts.constructors.empty())
    return Rejected{Gate::static_budget, "code would run when the kernel is loaded: " + join(facts.constructors, ", ") +
                                             "; remove static objects with constructors"};
  if (!facts.forbidden_symbols.empty())
    return Rejected{Gate::static_budget, "uses what a kernel may not use: " + join(facts.forbidden_symbols, ", ")};
  if (!facts.writable_globals.empty())
    return Rejected{Gate::static_budget,
                    "writable global memory: " + join(facts.writable_globals, ", ") +
                        "; results could be kept between calls. Use `scratch:` in the header instead"};
  return std::nullopt;
}

std::optional<Refusal> judge_floor(double median_us, double floor_us, const std::string& shape) {
  if (median_us >= kFloorMargin * floor_us) return std::nullopt;
  return Rejected{Gate::floor,
                  fmt::format("{:.3g} us on shape '{}' is below the physical floor of {:.3g} us (bytes that must move "
                              "over the measured bandwidth): quarantined, not rewarded",
                              median_us, shape, floor_us)};
}

std::optional<Refusal> judge_clock(double disagreement) {
  if (disagreement <= kClockFactor) return std::nullopt;
  return Rejected{Gate::clock,
                  fmt::format("device time is {:.1f} times the host's time for the same batch", disagreement)};
}

}  // namespace kerf
