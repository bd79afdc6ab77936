// SPDX-License-Identifier: Apache-2.0
#include "control/rows/guest_files_format.hpp"

#include <algorithm>
#include <array>

#include "control/document/words.hpp"

namespace softspine::control {
namespace {

constexpr size_t kMaxPathBytes = 1024;
constexpr size_t kMaxPartBytes = 255;
// File systems of the guest itself, which would hide what lies below.
constexpr std::array<std::string_view, 7> kGuestsOwn = {"proc", "sys", "dev", "run", "tmp", "guest", "board"};

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

std::string obstacle_of_part(std::string_view part) {
  if (part.empty()) return "must not end with '/' or hold '//'";
  if (part == "." || part == "..") return "must not hold the parts '.' and '..'";
  return part.size() > kMaxPartBytes ? "holds a name of more than 255 bytes" : "";
}

}  // namespace

std::string obstacle_to_guest_path(std::string_view path) {
  if (!path.starts_with('/')) return "must be an absolute path of the guest, such as /etc/app.conf";
  if (path == "/") return "is the whole root folder, which 'root' is for";
  if (path.size() > kMaxPathBytes) return "must be a path of at most 1024 bytes";
  if (std::ranges::any_of(path, is_control)) return "must not hold control characters";
  const std::string_view first = path.substr(1, path.find('/', 1) - 1);
  for (std::string_view rest = path.substr(1);;) {
    const size_t end = rest.find('/');
    if (std::string why = obstacle_of_part(rest.substr(0, end)); !why.empty()) return why;
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (std::ranges::find(kGuestsOwn, first) == kGuestsOwn.end()) return "";
  return "would be hidden: the guest mounts a file system of its own at /" + std::string(first);
}

bool Format<GuestFilesRow>::read(Reader& reader, Value value, GuestFilesRow& out) {
  if (value.kind() != ValueKind::kMap)
    return reader.wrong_type(value, "a map such as {/etc/app.conf: ./app.conf}: the guest's paths, and this machine's");
  if (value.size() > kMaxGuestFiles)
    return reader.fail(value, "names " + std::to_string(value.size()) + " files, and 256 are the most: name folders");
  bool good = true;
  for_each_entry(value, [&](Value key, Value content) {
    if (key.kind() != ValueKind::kScalar) return;  // the document has reported it
    if (const std::string why = obstacle_to_guest_path(key.text()); !why.empty())
      good = reader.fail(key, shown(key.text()) + " " + why);
    auto& item = out.items.emplace_back(std::string(key.text()), key, "", content);
    good = read_text(reader, content, item.source) && good;
    if (item.source.empty() && content.kind() == ValueKind::kScalar) good = reader.fail(content, "names no file");
  });
  return good;
}

}  // namespace softspine::control
