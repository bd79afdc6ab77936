// SPDX-License-Identifier: Apache-2.0
// What a testbed says of a built-in host and its NIC (testbeds/hosts): the model and HostConfig hold it whole.
//
// To add a parameter: its member with its default, its line in kBuiltinHostKeys, and the code that obeys it.
#pragma once

#include <tuple>

#include "dataplane/units/parameter_key.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

struct BuiltinHostParameters {
  dataplane::Duration pfc_watchdog;  // testbeds/hosts/nic_watchdog.hpp; zero: none
};

inline constexpr std::tuple kBuiltinHostKeys{
    dataplane::parameter("pfc_watchdog", &BuiltinHostParameters::pfc_watchdog,
                         "built-in hosts: after so long a time of pausing without taking anything in, the NIC sends no "
                         "pauses any more; never if not given",
                         dataplane::Duration::us(1), dataplane::Duration::s(1000))
        .without_default()};

}  // namespace softspine::control
