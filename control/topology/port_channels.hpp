// SPDX-License-Identifier: Apache-2.0
// LAGs out of the switches' own configurations: the port channels of their profiles, where links are.
//
// A port channel whose members lead to one switch is a LAG, with LACP, on which both ends have agreed before the run
// begins, as a switch that has been up has. The other end has a port channel of the same links; one that has none at
// all takes this one's. The file's own LAGs (`topology: lags`) take precedence. A port channel that cannot be a LAG
// here is a warning with its line: members that lead to several switches or to hosts, ends that do not fit.
#pragma once

#include "control/document/reader.hpp"
#include "control/model/fabric.hpp"
#include "control/model/profile.hpp"

namespace softspine::control {

// After join_lags().
void join_port_channels(Reader& reader, const std::vector<Profile>& profiles, Fabric& fabric);

}  // namespace softspine::control
