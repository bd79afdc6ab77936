// SPDX-License-Identifier: Apache-2.0
// Writes a picture into a file: SVG as it is, PNG by rsvg-convert (Debian's librsvg2-bin), which is started for it.
// Whole or not at all, as every file of ours (whole_file.hpp).
#pragma once

#include <expected>
#include <string>

namespace softspine::tools {

// The error if the path ends in neither .svg nor .png; else empty.
std::string wrong_picture_name(const std::string& path);
std::expected<void, std::string> write_picture(const std::string& path, const std::string& svg);

}  // namespace softspine::tools
