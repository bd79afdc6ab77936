// SPDX-License-Identifier: Apache-2.0
// The name of JSON, for headers that only hand it on: the compiler needs 0.1 s for it, and 4 s for what json.hpp
// brings.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace softspine::control {

using Json = nlohmann::ordered_json;

}  // namespace softspine::control
