// SPDX-License-Identifier: Apache-2.0
// A line from the control socket: whatever it holds, it is refused in words or understood; and what was
// understood is understood again from our own text of it.
#include <cstdint>
#include <string_view>

#include "control/server/protocol.hpp"
#include "dataplane/units/check.hpp"

using namespace softspine::control;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line{reinterpret_cast<const char*>(data), size};
  const auto request = parse_request(line);
  if (!request) {
    SOFTSPINE_CHECK(!request.error().empty(), size, 0);
    static_cast<void>(parse_response(format_response(Json{}, std::unexpected(request.error()))));
    return 0;
  }
  const auto again = parse_request(format_request(*request));
  SOFTSPINE_CHECK(again.has_value(), size, 0);
  SOFTSPINE_CHECK(again->command == request->command, size, 0);
  const std::string response = format_response(request->id, request->arguments);
  SOFTSPINE_CHECK(response.find('\n') == response.size() - 1, size, response.size());
  SOFTSPINE_CHECK(parse_response(response).result.has_value(), size, 0);
  static_cast<void>(parse_response(line));
  return 0;
}
