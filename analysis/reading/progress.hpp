// SPDX-License-Identifier: Apache-2.0
// How far the reading of a capture is. A reader calls this now and then; a command shows it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace softspine::analysis {

// `bytes`: of the file; 0 where its end is not known. `what` was read so far: "12,000 frames".
using ProgressFunction =
    std::function<void(const std::string& file, uint64_t offset, uint64_t bytes, const std::string& what)>;

}  // namespace softspine::analysis
