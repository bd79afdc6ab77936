// SPDX-License-Identifier: Apache-2.0
// Arista's `fields udp dst-port 4791 payload bytes 5-7`: bytes of the payload of UDP packets to a port, counted from 0,
// as user-defined fields. Bytes 5 to 7 of RoCEv2 are the BTH's destination QP.
#pragma once

#include <string>
#include <vector>

#include "dataplane/hashing/hash_config.hpp"

namespace softspine::control {

struct PayloadBytes {
  std::vector<dataplane::Udf> udfs;
  bool is_head = false;  // the line names the port alone: the bytes are in lines below it
  std::string why_not;   // empty: all of the line is in `udfs`
};

// `values`: the words behind `dst-port`.
PayloadBytes read_payload_bytes(const std::vector<std::string>& values);

}  // namespace softspine::control
