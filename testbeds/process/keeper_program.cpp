// SPDX-License-Identifier: Apache-2.0
#include "testbeds/process/keeper_program.hpp"

#include <cstdlib>

#include "testbeds/process/keeper_path.hpp"

namespace softspine::testbeds {

std::filesystem::path keeper_program() {
  const char* value = std::getenv("SOFTSPINE_KEEPER");
  return value != nullptr && *value != '\0' ? value : SOFTSPINE_KEEPER_BUILT;
}

}  // namespace softspine::testbeds
