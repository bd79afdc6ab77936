// SPDX-License-Identifier: Apache-2.0
// The requests for captures of a running fabric that go over the control socket, and their answers. Sizes travel as
// bytes, times as picoseconds.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/telemetry/json_fwd.hpp"
#include "testbeds/run/captures.hpp"

namespace softspine::tools {

// "both", "sent", "received"
std::optional<testbeds::Watched> direction_of(std::string_view word);

control::Json json_of(const testbeds::CaptureRequest& request);
std::expected<testbeds::CaptureRequest, std::string> capture_request(const control::Json& arguments);

control::Json captures_json(const std::vector<testbeds::Captures::Row>& rows);
std::string captures_table(const std::vector<testbeds::Captures::Row>& rows);

// Waits for the disk. Returns an error if the file is incomplete.
std::expected<control::Json, std::string> closed_capture(testbeds::Captures::Ended& ended, bool json);

}  // namespace softspine::tools
