// SPDX-License-Identifier: Apache-2.0
// The meanings of the softspine command's exit status.
#pragma once

namespace softspine::tools {

enum class ExitStatus : int {
  kDone = 0,        // done, and as expected
  kUnexpected = 1,  // an expectation, a guest's command, a file or a part of the run failed
  kWrongInput = 2,  // the input was wrong: nothing was started
};

}  // namespace softspine::tools
