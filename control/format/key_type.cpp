// SPDX-License-Identifier: Apache-2.0
#include "control/format/key_type.hpp"

#include <string>

namespace softspine::control {

bool beyond(Reader& reader, Value value, std::string_view which, const Json& limit) {
  const std::string text = limit.is_string() ? limit.get<std::string>() : limit.dump();
  return reader.fail(value, "must be " + std::string(which) + " " + text + ", not " + shown(value.text()));
}

}  // namespace softspine::control
