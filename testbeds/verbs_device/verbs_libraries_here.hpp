// SPDX-License-Identifier: Apache-2.0
// What programs of verbs hosts load: our libibverbs.so.1, alone in its folder, and the library that knows the fabric's
// names. Which files they are is no user's choice.
#pragma once

#include <filesystem>

namespace softspine::testbeds {

std::filesystem::path verbs_library_folder();
std::filesystem::path names_library();

}  // namespace softspine::testbeds
