// SPDX-License-Identifier: Apache-2.0
// What is served over HTTP, to whom, and within which limits; those of commands are ServerOptions'.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "control/server/openapi.hpp"
#include "control/server/web_address.hpp"
#include "control/server/web_target.hpp"

namespace softspine::control {

inline constexpr uint32_t kMaxHeadBytes = 16 << 10;

struct WebOptions {
  WebAddress address;
  WebPolicy policy;
  ApiTitle title;
  std::vector<WebFile> files;
  uint32_t max_connections = 1024;  // at once; a further one gets an error and is closed
  uint32_t max_event_readers = 64;  // of those
  // To a whole head from the answer before it (or the connection's begin), and from there to a whole body.
  std::chrono::milliseconds request_timeout{10'000};
  std::chrono::milliseconds write_timeout{10'000};
  std::chrono::milliseconds event_reader_timeout{30'000};  // one that neither reads nor answers pings
  std::chrono::milliseconds event_pace{20};                // from one message to the next at least
};

}  // namespace softspine::control
