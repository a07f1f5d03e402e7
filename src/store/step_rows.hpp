#pragma once
// Steps as rows of the database.

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "model/step.hpp"
#include "store/database.hpp"

namespace kerf::store {

/// Inserts the step and its parents; inside a transaction of the caller.
Status insert_step(Database& database, const Step& step);

/// The columns `read_step` needs, in its order, from a database of this schema.
std::string step_columns(std::int64_t schema);
Result<Step> read_step(const Statement& row);

}  // namespace kerf::store
