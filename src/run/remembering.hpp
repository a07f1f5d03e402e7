#pragma once
// A run and the memory: what it begins with, and what it leaves behind.

#include <memory>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "device/device.hpp"
#include "memory/memory_store.hpp"
#include "memory/retrieve.hpp"
#include "model/task.hpp"
#include "propose/proposer.hpp"
#include "propose/synth/synthesiser.hpp"
#include "store/run_store.hpp"

namespace kerf {

/// The name of the mind that proposes remembered kernels; stored, never renamed.
inline constexpr const char* kMemoryMind = "memory";

/// An id of the run that stays the same when it is resumed.
Result<std::string> run_id(const RunStore& run);

memory::TaskSignature signature_for(const Task& task, const std::string& target, const DeviceFacts& facts);

/// What the memory has for a task. `before` is what the run took already; the result begins with it. `skipped` names
/// records that could not be read.
Result<memory::Recollection> recall(const MemoryStore& store, const memory::TaskSignature& task,
                                    const memory::RetrieveOptions& options, std::uint64_t seed,
                                    memory::Recollection before, std::vector<std::string>& skipped);

/// Kernels of this very task that agents wrote in earlier runs, by refine value (any, now and then, by `published`): at
/// most `count` are added to `found`, with their sources. Those of the builtin mind too where it is not asked.
Status recall_sources(const MemoryStore& store, const std::string& task_id, const memory::TaskSignature& task,
                      const memory::RetrieveOptions& options, bool builtin, std::uint64_t seed,
                      memory::Recollection& found);

/// Remembered kernels as this task can have them, in their order; what cannot be written here is left out, as are
/// recipes without a synthesiser.
std::vector<Proposal> remembered_kernels(const memory::Recollection& recollection,
                                         const synth::Synthesiser* synthesiser);

/// Proposes them before any other first guess; their genomes are those of the builtin mind, which goes on from there.
std::unique_ptr<Proposer> make_remembered(std::vector<Proposal> kernels);

/// Adds what the run's steps teach to the memory; what a run taught before is not learned again. Without a synthesiser
/// only what agents wrote.
Status remember(MemoryStore& store, const RunStore& run, const Task& task, const memory::TaskSignature& signature,
                const synth::Synthesiser* synthesiser, memory::Rule rule, std::int64_t wall_ms);

/// An id of the run that stays the same when it is resumed.
Result<std::string> run_id(const RunStore& run);

}  // namespace kerf
