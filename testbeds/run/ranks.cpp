// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/ranks.hpp"

#include "testbeds/run/assembly.hpp"

namespace softspine::testbeds {

Ranks::Ranks(dataplane::RankTalk* talk, const control::Fabric& fabric, uint32_t workers)
    : talk_(talk), workers_(workers), share_of_(spread_over_workers(fabric, ranks() * workers)) {}

}  // namespace softspine::testbeds
