#pragma once
// The bytes of an artifact of kind `cubin`: one image for a GPU's loader or several, of which each defines some of the
// kernels (a program of many kernels is compiled in parts).

#include <string>
#include <string_view>
#include <vector>

namespace kerf {

/// A single image is its own bytes.
std::string join_images(const std::vector<std::string>& images);

/// What `join_images` was given; nothing for bytes that begin like several images and are damaged.
std::vector<std::string> split_images(std::string_view bytes);

}  // namespace kerf
