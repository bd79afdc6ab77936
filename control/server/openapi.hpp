// SPDX-License-Identifier: Apache-2.0
// The OpenAPI 3.1 document of what is served over HTTP, made of the facts of the commands.
#pragma once

#include <string>

#include "control/server/commands.hpp"
#include "control/server/web_gate.hpp"

namespace softspine::control {

struct ApiTitle {
  std::string testbed;
  std::string version;  // of the program
};

Json openapi_json(const Commands& commands, const WebPolicy& policy, const ApiTitle& title);

}  // namespace softspine::control
