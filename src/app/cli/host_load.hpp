#pragma once
// Whether other programs use the cores that kernels are timed on.

#include <chrono>
#include <optional>
#include <string>

namespace kerf::cli {

/// Share of the cores in use above which timings on the host's processor suffer, 0 to 1.
inline constexpr double kQuietShare = 0.15;

/// Share of the cores that was in use during so long, 0 to 1; none where the system does not say. To be asked while
/// Kerf itself does nothing. The system counts in hundredths of a second.
std::optional<double> busy_share(std::chrono::milliseconds over = std::chrono::milliseconds(60));

/// One line for people and for JSON's notes when `share` is too much for timing; "" otherwise.
std::string busy_words(std::optional<double> share);

}  // namespace kerf::cli
