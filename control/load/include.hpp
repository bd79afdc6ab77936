// SPDX-License-Identifier: Apache-2.0
// `include:` adds what stands in other files to a testbed.
//
// Lists (links, workload, faults, expect) are joined, a file's own part before that of the files that it includes;
// names (nodes, profiles) may stand in one file only, and so may `fabric`, `import` and the profile of a role. A file
// is included once; a circle is an error. Positions in errors are those of the file that has the value, and paths in
// an included file start at its folder.
#pragma once

#include "control/document/reader.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

inline constexpr size_t kMaxIncludeDepth = 8;
inline constexpr size_t kMaxIncludedFiles = 256;

void add_included(Reader& reader, TestbedRow& row);

}  // namespace softspine::control
