// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/views/file_clashes.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <variant>

namespace softspine::tools {

namespace {

constexpr int kMaxSymlinks = 40;  // as the kernel follows

// Where opening the path would make a file that is not there yet: at the end of its links.
std::filesystem::path end_of_links(std::filesystem::path path) {
  for (int i = 0; i < kMaxSymlinks; ++i) {
    std::error_code none;
    if (std::filesystem::symlink_status(path, none).type() != std::filesystem::file_type::symlink) break;
    path = path.parent_path() / std::filesystem::read_symlink(path, none);
  }
  // Made absolute first: of a relative path without a part that is there, weakly_canonical makes a relative one.
  std::error_code none;
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  std::filesystem::path canonical = std::filesystem::weakly_canonical(std::filesystem::absolute(path), none);
  return none ? whole : canonical;
}

// Empty: it can have any number of uses.
std::string identity_of(const std::filesystem::path& path) {
  const auto text = [](const struct stat& it) { return std::to_string(it.st_dev) + ":" + std::to_string(it.st_ino); };
  struct stat it{};
  if (::stat(path.c_str(), &it) != 0) return end_of_links(path).string();
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

// Whether `path` has a name of one of the numbered files that a capture writes: out-00001.pcapng of out.pcapng.
bool is_one_of(const std::filesystem::path& path, const std::filesystem::path& capture) {
  const std::filesystem::path mine = end_of_links(path);
  const std::filesystem::path whole = std::filesystem::absolute(capture);
  const std::string head = whole.stem().string() + "-";
  const std::string name = mine.stem().string();
  const bool is_numbered = name.size() > head.size() && name.starts_with(head) &&
                           name.find_first_not_of("0123456789", head.size()) == std::string::npos;
  return is_numbered && mine.extension() == whole.extension() &&
         mine.parent_path() == end_of_links(whole.parent_path());
}

bool is_numbered_clash(const FileUse& use, const FileUse& other) {
  return use.numbered && !other.numbered && !other.path.empty() && is_one_of(other.path, use.path);
}

// Calls see(host, its files) for each pcap edge.
template <typename See>
void for_each_pcap(const control::Testbed& testbed, See&& see) {
  for (const control::FabricNode& node : testbed.fabric.nodes) {
    const auto* const host = std::get_if<control::EdgeHost>(&node.attachment);
    if (host == nullptr) continue;
    for (const control::Edge& edge : host->edges) {
      if (const auto* const files = std::get_if<control::PcapEdge>(&edge)) see(node, *files);
    }
  }
}

}  // namespace

std::vector<FileUse> files_of(const control::Testbed& testbed) {
  const std::filesystem::path folder = std::filesystem::path(testbed.file).parent_path();
  std::vector<FileUse> out{{.what = "the testbed", .path = testbed.file}};
  for (const std::string& file : testbed.inputs) out.push_back({"a file that the testbed names", file, false});
  for_each_pcap(testbed, [&](const control::FabricNode& node, const control::PcapEdge& files) {
    if (!files.in.empty()) out.push_back({"what " + node.name + " sends", folder / files.in, false});
    if (!files.out.empty()) out.push_back({"what " + node.name + " receives", folder / files.out, true});
  });
  return out;
}

std::vector<std::string> files_that_hosts_send(const control::Testbed& testbed) {
  const std::filesystem::path folder = std::filesystem::path(testbed.file).parent_path();
  std::vector<std::string> out;
  for_each_pcap(testbed, [&](const control::FabricNode&, const control::PcapEdge& files) {
    if (!files.in.empty()) out.push_back((folder / files.in).string());
  });
  return out;
}

std::optional<std::string> first_clash(const std::vector<FileUse>& uses) {
  std::map<std::string, std::vector<const FileUse*>> known;
  for (const FileUse& use : uses) {
    for (const FileUse& other : uses) {
      if (is_numbered_clash(use, other)) return sentence(other, use);
    }
    const std::string identity = use.path.empty() || use.numbered ? "" : identity_of(use.path);
    if (identity.empty()) continue;
    for (const FileUse* other : known[identity]) {
      if (use.writes || other->writes) return sentence(*other, use);
    }
    known[identity].push_back(&use);
  }
  return std::nullopt;
}

std::optional<std::string> first_lost_in(const std::filesystem::path& folder, const std::vector<FileUse>& uses) {
  const std::filesystem::path emptied = end_of_links(folder);
  for (const FileUse& use : uses) {
    if (use.writes || use.path.empty()) continue;
    const std::filesystem::path file = end_of_links(use.path);
    if (std::ranges::mismatch(emptied, file).in1 != emptied.end()) continue;
    return "cannot empty " + folder.string() + ": " + use.what + " " + use.path.string() + " lies in it";
  }
  return std::nullopt;
}

}  // namespace softspine::tools
