#include "model/cubin_images.hpp"

#include <charconv>
#include <cstddef>

#include <fmt/format.h>

namespace kerf {
namespace {

constexpr std::string_view kSeveral = "kerf images";  // then " 120 4096\n", the images' sizes, and the images

}  // namespace

std::string join_images(const std::vector<std::string>& images) {
  if (images.size() == 1) return images.front();
  std::string bytes(kSeveral);
  for (const auto& image : images) bytes += fmt::format(" {}", image.size());
  bytes += '\n';
  for (const auto& image : images) bytes += image;
  return bytes;
}

std::vector<std::string> split_images(std::string_view bytes) {
  if (!bytes.starts_with(kSeveral)) return {std::string(bytes)};
  const std::size_t line = bytes.find('\n');
  if (line == std::string_view::npos) return {};
  std::string_view sizes = bytes.substr(kSeveral.size(), line - kSeveral.size()), rest = bytes.substr(line + 1);
  std::vector<std::string> images;
  while (!sizes.empty()) {
    std::size_t size = 0;
    if (sizes.front() != ' ') return {};
    const auto [end, error] = std::from_chars(sizes.data() + 1, sizes.data() + sizes.size(), size);
    if (error != std::errc() || size > rest.size()) return {};
    images.emplace_back(rest.substr(0, size));
    rest.remove_prefix(size);
    sizes.remove_prefix(static_cast<std::size_t>(end - sizes.data()));
  }
  return rest.empty() ? images : std::vector<std::string>{};
}

}  // namespace kerf
