// SPDX-License-Identifier: Apache-2.0
#include "testbeds/process/keeper_program.hpp"

#include "testbeds/process/installed_folders.hpp"
#include "testbeds/process/keeper_path.hpp"

namespace softspine::testbeds {

std::filesystem::path keeper_program() {
  return own_part("SOFTSPINE_KEEPER", "softspine-keeper", SOFTSPINE_KEEPER_BUILT);
}

}  // namespace softspine::testbeds
