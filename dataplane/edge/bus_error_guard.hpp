// SPDX-License-Identifier: Apache-2.0
// A guest's memory is a file that the guest can shorten while we have it mapped; the next touch raises SIGBUS,
// which would end the process and with it every other guest's port. With the guard on, the page that is gone is
// replaced by one of zeros, so that only that guest's frames are lost. A SIGBUS of any other cause, or in private
// memory, ends the process as before.
#pragma once

namespace softspine::dataplane {

// Called once, for the whole process. A SIGBUS that is not ours goes to the handler that was installed before.
void install_bus_error_guard();

}  // namespace softspine::dataplane
