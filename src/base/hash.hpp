#pragma once
// Content hashes: xxHash for cache keys and integrity checks inside a process, SHA-256 for ids that are stored.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace kerf {

/// XXH3, 64 bits. Fast; not for ids that leave the machine.
std::uint64_t hash64(std::string_view bytes);
std::uint64_t hash64(std::span<const std::byte> bytes);

/// SHA-256 as 64 lower-case hex digits: the identity of candidates, tasks and artifacts.
std::string sha256_hex(std::string_view bytes);

}  // namespace kerf
