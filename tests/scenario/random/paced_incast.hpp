// SPDX-License-Identifier: Apache-2.0
// Several paced flows of a host that are due at one instant, of which a pause stops some.
//
// Hosts send to one in several workloads of one rate, all from the same instant, with DSCPs of lossless and lossy
// priorities; hosts start packets when they are due (start_jitter: 0 %), so that flows of one rate stay due together.
// Lossless groups that are small pause the senders of their priority, again and again. Some workloads go over reliable
// connections whose rate congestion control cuts.
#pragma once

#include <string>
#include <vector>

#include "tests/scenario/random/schema_values.hpp"

namespace softspine::tests {

// Puts workloads and a profile with small lossless groups into the testbed. `hosts`: two at least.
void draw_paced_incast(dataplane::Rng& rng, const std::vector<std::string>& hosts, Json& testbed);

}  // namespace softspine::tests
