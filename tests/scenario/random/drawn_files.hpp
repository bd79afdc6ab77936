// SPDX-License-Identifier: Apache-2.0
// Files that a drawn testbed may name: they lie beside it, in a folder of this process, and are the same for all.
#pragma once

#include <filesystem>

#include "tests/scenario/random/schema_values.hpp"

namespace softspine::tests {

// With the files in it.
std::filesystem::path folder_of_drawn();

// The testbed's own place, of which nothing is there but the folder.
std::string drawn_testbed_file();

// What the keys of files may name.
void add_file_names(Names& names);

}  // namespace softspine::tests
