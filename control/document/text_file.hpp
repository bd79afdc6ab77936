// SPDX-License-Identifier: Apache-2.0
// The text of a file, bounded: never more than one byte past what it may have, whatever it is read from.
#pragma once

#include <expected>
#include <string>

#include "control/document/document.hpp"

namespace softspine::control {

// Also reads pipes, which may block until a writer comes; with `only_files`, whatever could block is refused. The error
// is a message without the path.
std::expected<std::string, std::string> read_text_file(const std::string& path, bool only_files = false,
                                                       size_t most = kMaxTextBytes);

}  // namespace softspine::control
