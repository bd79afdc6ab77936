// SPDX-License-Identifier: Apache-2.0
#include "control/record/recording_file.hpp"

#include <fmt/format.h>

#include "control/record/recording_tables.hpp"

namespace softspine::control {

namespace {

std::string refusal(Database& recording) {
  Statement id{recording, "PRAGMA application_id"};
  if (!id.next() || id.number(0) != kRecordingId) return "this is no recording of softspine";
  Statement format{recording, "PRAGMA user_version"};
  if (!format.next() || format.number(0) != kRecordingFormat) {
    return fmt::format("a recording of format {}; this program reads {}", format.number(0), kRecordingFormat);
  }
  return {};
}

}  // namespace

std::expected<Database, std::string> read_recording(const std::string& path) {
  auto recording = Database::read(path);
  if (!recording) return std::unexpected(recording.error());
  if (const std::string why = refusal(*recording); !why.empty()) return std::unexpected(why);
  return recording;
}

}  // namespace softspine::control
