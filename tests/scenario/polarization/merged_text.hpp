// SPDX-License-Identifier: Apache-2.0
// A testbed's file with the keys of a cure put in as a person does it: maps into maps, all else instead of what was
// there.
#pragma once

#include <string>

namespace softspine::tests {

std::string merged(const std::string& text, const std::string& piece);

}  // namespace softspine::tests
