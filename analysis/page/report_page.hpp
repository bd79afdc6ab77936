// SPDX-License-Identifier: Apache-2.0
// One page about a recorded run, to be mailed: HTML with its style and pictures in it, and no script. It is made of the
// recording alone, so that a run, and a file that somebody sent, give the same page.
//
// Size: every list and picture has a limit of its own, and a tier of the fabric is folded into 360 cells; so a fabric
// of any size is a page of some hundred kilobytes, plus the testbed's text.
#pragma once

#include <expected>
#include <string>

namespace softspine::analysis::page {

// The error is a sentence that begins with the path.
std::expected<std::string, std::string> report_page(const std::string& recording);

}  // namespace softspine::analysis::page
