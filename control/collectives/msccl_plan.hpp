// SPDX-License-Identifier: Apache-2.0
// MSCCL's XML: a collective's algorithm, as msccl-tools writes it and MSCCL's interpreter runs it.
//
//   <algo name proto="Simple|LL|LL128" nchannels nchunksperloop ngpus coll="allreduce" inplace outofplace minBytes
//   maxBytes>
//     <gpu id i_chunks o_chunks s_chunks>
//       <tb id send recv chan>                     a thread block: whom it sends to and hears, or −1
//         <step s type srcbuf srcoff dstbuf dstoff cnt depid deps hasdep/>
//
// A buffer has nchunksperloop chunks: the output of allgather, the input of reducescatter. Types: s, r, cpy, rcs, rrc,
// rrs, rrcs, re, nop. depid and deps: the step of another tb of this gpu that has to be done.
// Refused: a connection (peer, channel) of two tbs, sends without their receives, steps that wait for each other,
// chunks beyond a buffer's end; broadcast, reduce and custom collectives, since a plan does not name their root and
// result. Source: Azure/msccl-executor-nccl, microsoft/msccl.
//
// Maxima: 16 MiB, 1,024 gpus, 32 channels, 1,024 chunks, 2^18 steps. After 50 mistakes it gives up.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "control/document/error.hpp"
#include "control/model/collective_plan.hpp"

namespace softspine::control {

inline constexpr size_t kMaxPlanBytes = 16U << 20U;

using SharedPlan = std::shared_ptr<const CollectivePlan>;

// `name`: of the file, in errors.
std::expected<SharedPlan, Errors> read_msccl_plan(std::string_view text, const std::string& name);

}  // namespace softspine::control
