#pragma once
// A mind that proposes kernels. The builtin one (synth/) works on genomes and answers in milliseconds; language models
// and coding agents take seconds, fail, and answer with any text. Requests and proposals are values, so that they can
// be recorded and travel.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "model/counters.hpp"
#include "model/evaluation.hpp"
#include "model/event.hpp"
#include "model/step.hpp"

namespace kerf {

/// Values of a kernel's tunables that were timed quickly.
struct TimedValues {
  Bindings tunables;
  double time_us = 0;
};

/// A kernel that was tried before, as minds see it.
struct KernelRecord {
  std::int64_t step = 0;  ///< its number in the run
  std::string name;
  std::string source;                  ///< the whole candidate file, or an answer that could not be read as one
  std::string genome;                  ///< "" when it did not come from the builtin mind
  Bindings tunables;                   ///< as evaluated
  Evaluation evaluation;               ///< times and speedups, or the compiler output, or where and how it was wrong
  std::vector<int> cell;               ///< level per behaviour dimension; empty when it was not measured
  std::vector<TimedValues> timed{};    ///< the fastest first; filled in for minds that take their time
  std::optional<Counters> counters{};  ///< of parents, for minds that take their time, where the machine has some
};

/// Where the search would like the child to land, one step from its parent's cell.
struct Direction {
  int dimension = 0;  ///< index into the archive's dimensions
  int step = 0;       ///< -1, 0 (stay and improve) or +1
};

/// Something a mind can be asked for.
struct OperationInfo {
  std::string name;  ///< stored, never renamed
  bool needs_parent = false;
  bool needs_partner = false;  ///< at least one inspiration
  bool given = false;          ///< of "start": a user's kernels, which every search judges first, however many

  bool operator==(const OperationInfo&) const = default;
};

/// The operation that asks for first guesses, one after the other; needs no parent.
inline constexpr const char* kStartOperation = "start";

struct ProposalRequest {
  std::string operation;                   ///< one of Proposer::operations()
  std::size_t start_number = 0;            ///< for "start": 0, 1, 2, ... until the mind has no more
  std::optional<KernelRecord> parent;      ///< none: start afresh
  std::vector<KernelRecord> inspirations;  ///< partners for crossover, examples for a language model
  std::vector<KernelRecord> failures;      ///< the latest refused kernels, the parent's children first
  std::optional<Direction> direction;
  std::uint64_t seed = 0;  ///< of the mind's own random choices
};

struct Proposal {
  std::string name;                   ///< a label for people
  std::string source;                 ///< a candidate file, as written; the search reads it and refuses what is not one
  std::string genome;                 ///< JSON; "" for minds without genomes
  std::vector<std::int64_t> parents;  ///< steps it descends from
  std::string change;                 ///< for people: "g0 BLOCK 128 -> 256"
  Provenance provenance{};
  std::string unreadable{};           ///< why `source` holds no kernel; "" where it may hold one
  std::vector<Exchange> exchanges{};  ///< how it came about, kept with the step
};

class Proposer {
 public:
  virtual ~Proposer() = default;
  virtual std::string_view name() const = 0;  ///< "builtin"; stored, never renamed
  virtual std::vector<OperationInfo> operations() const = 0;

  /// 0: answers in milliseconds and is deterministic in the request; asked by the searching thread only. Above 0: takes
  /// longer; so many questions may be under way at once, each on a thread of its own. An answer counts until it is
  /// judged, so that no mind runs ahead of what it could learn.
  virtual int questions_at_once() const { return 0; }

  /// None when the operation finds nothing new to try here. An Error when the mind cannot be asked (no connection, no
  /// budget left): it is noted, and a mind that keeps failing is no longer asked.
  virtual Result<std::optional<Proposal>> propose(const ProposalRequest& request) = 0;

  /// Told of every step of the run, in order, before the next question is asked; of earlier ones when a run is resumed.
  /// Called by the searching thread while questions may be under way.
  virtual void observe(const Step& step) { (void)step; }

  /// A mind whose spending is used up is not asked any more. Thread-safe.
  virtual Spending spending() const { return {}; }

  /// Called from another thread when the search ends: questions under way are given up soon.
  virtual void cancel() {}
};

}  // namespace kerf
