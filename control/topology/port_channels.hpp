// SPDX-License-Identifier: Apache-2.0
// Makes LAGs of the port channels in the switches' profiles, where the fabric has links for them.
//
// A port channel whose members lead to one switch becomes a LAG with LACP, agreed by both ends before the run begins.
// The other end must have a port channel of the same links; an end without any port channels takes this end's. The
// file's own LAGs (`topology: lags`) take precedence. A port channel that cannot be a LAG here gives a warning with its
// line: its members lead to several switches or to hosts, or the two ends do not fit.
#pragma once

#include "control/document/reader.hpp"
#include "control/model/fabric.hpp"
#include "control/model/profile.hpp"

namespace softspine::control {

// After join_lags().
void join_port_channels(Reader& reader, const std::vector<Profile>& profiles, Fabric& fabric);

}  // namespace softspine::control
