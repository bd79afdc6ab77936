// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_folder.hpp"

#include <algorithm>
#include <cstdlib>

namespace softspine::tools {

bool has_files(const control::Testbed& testbed) {
  return std::ranges::any_of(testbed.fabric.nodes,
                             [](const control::FabricNode& node) { return control::is_started(node.attachment); });
}

std::expected<std::filesystem::path, std::string> run_folder(const std::string& asked,
                                                             const control::Testbed& testbed) {
  if (!has_files(testbed)) return std::filesystem::path{};
  if (!asked.empty()) return std::filesystem::absolute(asked);
  std::error_code none;
  const std::filesystem::path there = std::filesystem::temp_directory_path(none);
  std::string made = (there / "softspine-run-XXXXXX").string();
  if (none || mkdtemp(made.data()) == nullptr) {
    return std::unexpected("cannot make a folder in " + there.string() +
                           " for the outside hosts' files; --folder names another");
  }
  return std::filesystem::path{made};
}

}  // namespace softspine::tools
