// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace softspine::testbeds {

// Where softspine-keeper is: $SOFTSPINE_KEEPER, or where it was built.
std::filesystem::path keeper_program();

}  // namespace softspine::testbeds
