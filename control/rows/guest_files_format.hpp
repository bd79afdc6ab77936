// SPDX-License-Identifier: Apache-2.0
// How the files of a guest are written: by the path at which the guest finds each.
//
//   files: {/etc/app.conf: ./app.conf, /opt/app: ../app}
#pragma once

#include <string>
#include <string_view>

#include "control/format/table.hpp"
#include "control/rows/rows.hpp"

namespace softspine::control {

inline constexpr size_t kMaxGuestFiles = 256;
// An absolute path of a guest, without parts that mean another.
inline constexpr std::string_view kGuestPathPattern = "^/[^/]";

// Why a guest can have no file there; empty: it can.
std::string obstacle_to_guest_path(std::string_view path);

template <>
struct Format<GuestFilesRow> {
  static bool read(Reader& reader, Value value, GuestFilesRow& out);
  static Json schema(SchemaBook&) { return map_schema(kGuestPathPattern, text_schema()); }
  static Json write(const GuestFilesRow&) { return Json::object(); }
};

}  // namespace softspine::control
