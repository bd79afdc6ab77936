// SPDX-License-Identifier: Apache-2.0
// Changes that the kernel makes to a network interface's frames for speed (`ethtool -k`), by the kernel's names of
// features: "tx-checksum-ip-generic", "rx-gro", … The interface is in the network namespace that this thread is in.
#pragma once

#include <expected>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

using FeatureNames = std::vector<std::string>;

// Switches off those features that are wanted on and that `unwanted` names, and returns them. The error: what is still
// on.
std::expected<FeatureNames, Error> switch_off_features(const std::string& interface,
                                                       const std::function<bool(std::string_view)>& unwanted);
void switch_on_features(const std::string& interface, const FeatureNames& features);

// True if the feature leaves it to the receiver of a frame to complete its checksum, or to cut it into frames.
bool leaves_work_to_the_receiver(std::string_view feature);
// True if the feature makes one frame, longer than the MTU, of several received ones.
bool merges_received_frames(std::string_view feature);

}  // namespace softspine::testbeds
