// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/file_clashes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <variant>

namespace softspine::tools {

namespace {

// Empty: it can have any number of uses.
std::string identity_of(const std::filesystem::path& path) {
  const auto text = [](const struct stat& it) { return std::to_string(it.st_dev) + ":" + std::to_string(it.st_ino); };
  struct stat it{};
  if (::stat(path.c_str(), &it) != 0) {
    // Made absolute first: of a relative path without a part that is there, weakly_canonical makes a relative one.
    std::error_code none;
    const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
    const std::filesystem::path canonical = std::filesystem::weakly_canonical(whole, none);
    return (none ? whole : canonical).string();
  }
  if (S_ISCHR(it.st_mode) || S_ISBLK(it.st_mode)) return "";
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat ours{};
    if (::fstat(stream, &ours) == 0 && text(ours) == text(it)) return "";
  }
  return text(it);
}

std::string sentence(const FileUse& first, const FileUse& second) {
  const FileUse& writer = second.writes ? second : first;
  const FileUse& other = second.writes ? first : second;
  return "cannot write " + writer.what + " " + writer.path.string() + ": " +
         (other.writes ? other.what + " would be written there, too" : "it is " + other.what);
}

}  // namespace

std::vector<FileUse> files_of(const control::Testbed& testbed) {
  const std::filesystem::path folder = std::filesystem::path(testbed.file).parent_path();
  std::vector<FileUse> out{{.what = "the testbed", .path = testbed.file}};
  for (const control::FabricNode& node : testbed.fabric.nodes) {
    const auto* const host = std::get_if<control::EdgeHost>(&node.attachment);
    if (host == nullptr) continue;
    for (const control::Edge& edge : host->edges) {
      const auto* const files = std::get_if<control::PcapEdge>(&edge);
      if (files == nullptr) continue;
      if (!files->in.empty()) out.push_back({"what " + node.name + " sends", folder / files->in, false});
      if (!files->out.empty()) out.push_back({"what " + node.name + " receives", folder / files->out, true});
    }
  }
  return out;
}

std::optional<std::string> first_clash(const std::vector<FileUse>& uses) {
  std::map<std::string, std::vector<const FileUse*>> known;
  for (const FileUse& use : uses) {
    const std::string identity = use.path.empty() ? "" : identity_of(use.path);
    if (identity.empty()) continue;
    for (const FileUse* other : known[identity]) {
      if (use.writes || other->writes) return sentence(*other, use);
    }
    known[identity].push_back(&use);
  }
  return std::nullopt;
}

}  // namespace softspine::tools
