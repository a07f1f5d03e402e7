#pragma once
// A second, small shape for tasks that come from PyTorch. A traced module has numbers for extents, and these are the
// real ones: seconds for the reference on the host, and for every kernel that is checked with all kinds of data. With
// symbols for the extents, kernels are checked on a small shape first, are known to be right on more than one, and the
// real shape is left to timing and a few kinds of data.

#include <string>
#include <string_view>

namespace kerf::pytorch {

/// `task` (the text of a task file without [shapes], as the import writes it) with its extents named, a shape
/// `default` that gives them their own values, and a shape `small` that is checked only. The task is the same on
/// `default`: a name stands only where the number stood that it has there. As it was where the task is small already,
/// or where no extent can be another.
std::string with_small_shape(const std::string& task, const std::string& file);

}  // namespace kerf::pytorch
