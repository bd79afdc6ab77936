// SPDX-License-Identifier: Apache-2.0
// What a testbed says of a built-in host and its NIC (testbeds/hosts): the model and HostConfig hold it whole.
//
// To add a parameter: its member with its default, its line in kBuiltinHostKeys, and the code that obeys it.
#pragma once

#include <tuple>

#include "dataplane/units/parameter_key.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/share.hpp"
#include "dataplane/units/time.hpp"
#include "dataplane/units/wide.hpp"

namespace softspine::control {

struct BuiltinHostParameters {
  dataplane::Duration pfc_watchdog;  // testbeds/hosts/nic_watchdog.hpp; zero: none
  // Of what joins the GPUs of a server (testbeds/hosts/scale_up_port.hpp), of one direction. NVLink 4: 450 GB/s.
  dataplane::Rate scale_up_rate = dataplane::Rate::gbps(3'600);
  dataplane::Duration scale_up_latency = dataplane::Duration::us(1);
  dataplane::Share compute_scale{1'000'000};  // of the times that ranks on this host compute

  // For how long it computes what takes `time` at 100%; rounded down to a picosecond.
  dataplane::Duration computing(dataplane::Duration time) const {
    const auto ps = dataplane::Uint128{static_cast<uint64_t>(time.count_ps())} * compute_scale.millionths;
    return dataplane::Duration::ps(static_cast<int64_t>(ps / 1'000'000));
  }
};

inline constexpr std::tuple kBuiltinHostKeys{
    dataplane::parameter("pfc_watchdog", &BuiltinHostParameters::pfc_watchdog,
                         "built-in hosts: after so long a time of pausing without taking anything in, the NIC sends no "
                         "pauses any more; never if not given",
                         dataplane::Duration::us(1), dataplane::Duration::s(1000))
        .without_default(),
    dataplane::parameter("scale_up_rate", &BuiltinHostParameters::scale_up_rate,
                         "built-in hosts of one server: of a GPU's link to the server's other GPUs, each way, which "
                         "collectives use beside the fabric; NVLink 4's 3600Gbps if not given",
                         dataplane::Rate::gbps(1), dataplane::Rate::gbps(100'000))
        .without_default(),
    dataplane::parameter("scale_up_latency", &BuiltinHostParameters::scale_up_latency,
                         "of that link: from the last bit sent to the last bit received; 1us if not given",
                         dataplane::Duration::ns(1), dataplane::Duration::ms(1))
        .without_default(),
    dataplane::parameter("compute_scale", &BuiltinHostParameters::compute_scale,
                         "built-in hosts: of all times that ranks of collectives, trainings and traces compute here; a "
                         "GPU of half the speed has 200%; 100% if not given",
                         dataplane::Share{10'000}, dataplane::Share{100'000'000})
        .without_default()};

}  // namespace softspine::control
