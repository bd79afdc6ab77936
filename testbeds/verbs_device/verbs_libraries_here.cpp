// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/verbs_libraries_here.hpp"

#include "testbeds/process/installed_folders.hpp"
#include "testbeds/verbs_device/verbs_libraries.hpp"

namespace softspine::testbeds {

std::filesystem::path verbs_library_folder() {
  return installed_folders() ? installed_folders()->parts / "verbs" : std::filesystem::path(SOFTSPINE_VERBS_FOLDER);
}

std::filesystem::path names_library() {
  return installed_folders() ? verbs_library_folder() / "libsoftspine_names.so"
                             : std::filesystem::path(SOFTSPINE_NAMES_BUILT);
}

}  // namespace softspine::testbeds
