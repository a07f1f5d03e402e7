#pragma once
// Times that depend on the data: rounds draw from data sets of different families, and some take longer than others.

#include <cstddef>
#include <vector>

namespace kerf {

/// A batch of several calls has no data set of its own.
inline constexpr int kSeveralDataSets = -1;

/// `us[i]` was taken on data set `data[i]`; NaN is no sample. Where the data explains most of the differences, every
/// sample is moved from the level of its data set to the mean over data sets (of logarithms, each counted once), and
/// what is left of its deviation is widened by what the fit took away. Needs samples of all `sets` data sets, two each
/// on average, and batches of one call; otherwise, and where the interval of the median would not shrink to half, the
/// samples come back as they are.
std::vector<double> without_data_effect(const std::vector<double>& us, const std::vector<int>& data, std::size_t sets);

}  // namespace kerf
