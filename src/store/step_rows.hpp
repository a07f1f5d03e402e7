#pragma once
// Steps as rows of the database and as lines of events.jsonl.

#include <map>
#include <string>

#include "base/result.hpp"
#include "store/database.hpp"
#include "store/run_store.hpp"

namespace kerf::store {

/// Inserts the step and its parents; inside a transaction of the caller.
Status insert_step(Database& database, const Step& step);

/// The columns `read_step` needs, in its order; parents are a comma-separated list.
extern const char* const kStepColumns;
Result<Step> read_step(const Statement& row);

/// One line of JSON, without sources: what happened, for people and scripts that follow the run.
std::string step_event(const Step& step);
std::string note_event(const std::string& kind, const std::map<std::string, std::string>& details);

}  // namespace kerf::store
