// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace softspine::testbeds {

// Where softspine-keeper is: $SOFTSPINE_KEEPER, or the installed or built one (installed_folders.hpp).
std::filesystem::path keeper_program();

}  // namespace softspine::testbeds
