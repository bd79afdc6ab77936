// SPDX-License-Identifier: Apache-2.0
// Files of others, which tests compare with and the project does not hold: in a folder that an environment variable
// names, else in ../shared/thirdparty beside the checkout.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace softspine::tests {

struct Samples {
  std::filesystem::path folder;
  std::string missing;  // why a test has to be skipped; empty: the folder is there
};

// `subfolder`: of ../shared/thirdparty; `what`: what is in it, for the reason.
Samples samples_of(const char* variable, std::string_view subfolder, std::string_view what);

}  // namespace softspine::tests
