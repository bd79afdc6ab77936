// SPDX-License-Identifier: Apache-2.0
// Where the checkout is, for tests that read test data or shipped testbeds.
#pragma once

#include <filesystem>

namespace softspine::tests {

std::filesystem::path source_root();

}  // namespace softspine::tests
