// SPDX-License-Identifier: Apache-2.0
// The client: agrees on the terms with a server, sends, and reports the result.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "tools/verbs/interrupt_signal.hpp"
#include "tools/verbs/terms.hpp"

namespace softspine::tools {

struct ClientOptions {
  std::string host;
  std::string port;
  std::string from;  // our address; empty: by the route to the host
  std::chrono::milliseconds patience{0};
  Terms terms;
  uint64_t messages = 0;
  std::optional<std::chrono::nanoseconds> duration;  // until then messages begin
};

struct ClientFailure {
  std::string why;
  bool had_begun = false;  // data was on its way
};

// Everything that is known afterwards; keys end in their units. `verified`: whether every byte was right.
std::expected<Json, ClientFailure> run_client(const ClientOptions& options, InterruptSignal& interrupt);

// The same for people.
std::string client_text(const Json& result);

}  // namespace softspine::tools
