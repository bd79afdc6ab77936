// SPDX-License-Identifier: Apache-2.0
#include "control/load/guest_parts.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>

#include "control/load/guest_images.hpp"
#include "control/load/listed_flows.hpp"

namespace softspine::control {
namespace {

namespace fs = std::filesystem;

// A part as it was found, with the kind of what its links lead to.
struct Found {
  std::string path;
  fs::file_type type = fs::file_type::none;
};

bool is_readable(const Found& found) {
  return access(found.path.c_str(), found.type == fs::file_type::directory ? R_OK | X_OK : R_OK) == 0;
}

class PartFinder {
 public:
  PartFinder(Reader& reader, const GuestRow& row) : reader_(reader), row_(row) {}

  void find(Guest& out) {
    if (row_.root) find_root(out);
    if (row_.files) find_files(out);
    if (row_.kernel) find_kernel(out);
  }

 private:
  // A file or folder that can be read; else there is an error.
  std::optional<Found> part(Value where, const std::string& name) {
    if (name.contains('\0')) return failed(where, name, "is no path");
    std::error_code error;
    Found found{.path = fs::canonical(fs::absolute(path_beside(where, name), error), error)};
    if (!error) found.type = fs::status(found.path, error).type();
    if (error) return failed(where, name, error.message());
    if (found.type != fs::file_type::directory && found.type != fs::file_type::regular)
      return failed(where, name, "is neither a file nor a folder");
    if (!is_readable(found)) return failed(where, name, std::strerror(errno));
    if (found.type == fs::file_type::regular) reader_.add_input(found.path);
    return found;
  }

  std::nullopt_t failed(Value where, const std::string& name, const std::string& why) {
    reader_.fail(where, shown(name) + ": " + why);
    return std::nullopt;
  }

  // Its path goes into a kernel command line, and into options of mount.
  static std::string obstacle_of_path(const std::string& path) {
    const bool fits = std::ranges::all_of(path, [](unsigned char c) {
      return std::isalnum(c) != 0 || std::string_view("/_.+-").contains(static_cast<char>(c));
    });
    return fits ? "" : "must have a path of letters, digits and _./+-, and it is " + shown(path);
  }

  void find_root(Guest& out) {
    const Value where = row_.where.child("root");
    const auto found = part(where, *row_.root);
    if (!found) return;
    if (found->path == "/") {
      failed(where, *row_.root, "is this whole machine: name a folder that holds what the guest is to see");
      return;
    }
    if (const std::string why = obstacle_of_path(found->path); !why.empty()) {
      failed(where, *row_.root, why);
      return;
    }
    const auto kind = found->type == fs::file_type::directory ? GuestRoot::kFolder : image_kind_of(found->path);
    if (!kind) {
      failed(where, *row_.root, kind.error());
      return;
    }
    out.root = found->path;
    out.root_kind = *kind;
  }

  void find_kernel(Guest& out) {
    const Value where = row_.where.child("kernel");
    const auto found = part(where, *row_.kernel);
    if (!found) return;
    std::string why = found->type == fs::file_type::directory ? "is a folder" : "";
    if (why.empty()) why = obstacle_to_kernel(found->path, row_.kind);
    if (why.empty() && row_.kind == GuestKind::kUml && access(found->path.c_str(), X_OK) != 0)
      why = "may not be executed: chmod +x";
    if (why.empty()) why = obstacle_of_path(found->path);
    if (!why.empty()) {
      failed(where, *row_.kernel, why);
      return;
    }
    out.kernel = found->path;
  }

  void find_files(Guest& out) {
    std::vector<std::string> plain;  // places of files, which can hold nothing
    for (const GuestFilesRow::Item& item : row_.files->items) {
      const auto found = part(item.where, item.source);
      if (!found) continue;
      if (found->path == "/") {
        failed(item.where, item.source, "is this whole machine");
        continue;
      }
      if (found->type == fs::file_type::regular) plain.push_back(item.place);
      out.files.push_back({.place = item.place, .source = found->path});
    }
    for (const GuestFilesRow::Item& item : row_.files->items) {
      for (const std::string& file : plain) {
        if (item.place.starts_with(file + "/"))
          reader_.fail(item.key, shown(item.place) + " would lie in " + shown(file) + ", which is a file");
      }
    }
    std::ranges::stable_sort(out.files, {}, [](const GuestFile& file) { return file.place.size(); });
  }

  Reader& reader_;
  const GuestRow& row_;
};

}  // namespace

void resolve_guests(Reader& reader, Expanded& expanded) {
  for (size_t i = 0; i < expanded.fabric.nodes.size(); ++i) {
    auto* const guest = std::get_if<Guest>(&expanded.fabric.nodes[i].attachment);
    if (guest == nullptr || expanded.rows[i] == nullptr) continue;
    PartFinder(reader, *expanded.rows[i]->guest).find(*guest);
  }
}

}  // namespace softspine::control
