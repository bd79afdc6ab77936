// SPDX-License-Identifier: Apache-2.0
// Words for what the numbers mean, rates, and the rest that needs no device.
#include <cerrno>

#include "testbeds/verbs_device/library/ours.hpp"

namespace {

template <size_t Count>
const char* word_of(const char* const (&words)[Count], unsigned number) {
  return number < Count ? words[number] : "unknown";
}

struct RateRow {
  ibv_rate rate;
  int mult;
  int mbps;
};
constexpr RateRow kRates[] = {
    {IBV_RATE_2_5_GBPS, 1, 2'500},    {IBV_RATE_5_GBPS, 2, 5'000},       {IBV_RATE_10_GBPS, 4, 10'000},
    {IBV_RATE_20_GBPS, 8, 20'000},    {IBV_RATE_30_GBPS, 12, 30'000},    {IBV_RATE_40_GBPS, 16, 40'000},
    {IBV_RATE_60_GBPS, 24, 60'000},   {IBV_RATE_80_GBPS, 32, 80'000},    {IBV_RATE_120_GBPS, 48, 120'000},
    {IBV_RATE_14_GBPS, 5, 14'062},    {IBV_RATE_56_GBPS, 22, 56'250},    {IBV_RATE_112_GBPS, 45, 112'500},
    {IBV_RATE_168_GBPS, 67, 168'750}, {IBV_RATE_25_GBPS, 10, 25'781},    {IBV_RATE_100_GBPS, 41, 103'125},
    {IBV_RATE_200_GBPS, 82, 206'250}, {IBV_RATE_300_GBPS, 123, 309'375}, {IBV_RATE_28_GBPS, 11, 28'125},
    {IBV_RATE_50_GBPS, 20, 53'125},   {IBV_RATE_400_GBPS, 164, 425'000}, {IBV_RATE_600_GBPS, 246, 637'500}};

}  // namespace

SOFTSPINE_VERB const char* ibv_wc_status_str(ibv_wc_status status) {
  static constexpr const char* kWords[] = {"success",
                                           "local length error",
                                           "local QP operation error",
                                           "local EE context operation error",
                                           "local protection error",
                                           "Work Request Flushed Error",
                                           "memory management operation error",
                                           "bad response error",
                                           "local access error",
                                           "remote invalid request error",
                                           "remote access error",
                                           "remote operation error",
                                           "transport retry counter exceeded",
                                           "RNR retry counter exceeded",
                                           "local RDD violation error",
                                           "remote invalid RD request",
                                           "aborted error",
                                           "invalid EE context number",
                                           "invalid EE context state",
                                           "fatal error",
                                           "response timeout error",
                                           "general error"};
  return word_of(kWords, static_cast<unsigned>(status));
}

SOFTSPINE_VERB const char* ibv_node_type_str(ibv_node_type type) {
  static constexpr const char* kWords[] = {"unknown", "InfiniBand channel adapter", "InfiniBand switch",
                                           "InfiniBand router"};
  return word_of(kWords, static_cast<unsigned>(type));
}

SOFTSPINE_VERB const char* ibv_port_state_str(ibv_port_state state) {
  static constexpr const char* kWords[] = {"no state change (NOP)", "down", "init", "armed", "active", "active defer"};
  return word_of(kWords, static_cast<unsigned>(state));
}

SOFTSPINE_VERB const char* ibv_event_type_str(ibv_event_type event) {
  static constexpr const char* kWords[] = {"CQ error",
                                           "local work queue catastrophic error",
                                           "invalid request local work queue error",
                                           "local access violation work queue error",
                                           "communication established",
                                           "send queue drained",
                                           "path migrated",
                                           "path migration request error",
                                           "local catastrophic error",
                                           "port active",
                                           "port error",
                                           "LID change",
                                           "P_Key change",
                                           "SM change",
                                           "SRQ catastrophic error",
                                           "SRQ limit reached",
                                           "last WQE reached",
                                           "client reregistration",
                                           "GID table change"};
  return word_of(kWords, static_cast<unsigned>(event));
}

SOFTSPINE_VERB int ibv_rate_to_mult(ibv_rate rate) {
  for (const RateRow& row : kRates) {
    if (row.rate == rate) return row.mult;
  }
  return -1;
}
SOFTSPINE_VERB ibv_rate mult_to_ibv_rate(int mult) {
  for (const RateRow& row : kRates) {
    if (row.mult == mult) return row.rate;
  }
  return IBV_RATE_MAX;
}
SOFTSPINE_VERB int ibv_rate_to_mbps(ibv_rate rate) {
  for (const RateRow& row : kRates) {
    if (row.rate == rate) return row.mbps;
  }
  return -1;
}
SOFTSPINE_VERB ibv_rate mbps_to_ibv_rate(int mbps) {
  for (const RateRow& row : kRates) {
    if (row.mbps == mbps) return row.rate;
  }
  return IBV_RATE_MAX;
}

// Memory is read and written through the process, so a child's copies disturb nobody.
SOFTSPINE_VERB int ibv_fork_init() {
  return 0;
}
SOFTSPINE_VERB ibv_fork_status ibv_is_fork_initialized() {
  return IBV_FORK_UNNEEDED;
}
SOFTSPINE_VERB int ibv_dontfork_range(void*, size_t) {
  return 0;
}
SOFTSPINE_VERB int ibv_dofork_range(void*, size_t) {
  return 0;
}

// Of the next hop the device knows itself.
SOFTSPINE_VERB int ibv_resolve_eth_l2_from_gid(ibv_context*, ibv_ah_attr*, uint8_t*, uint16_t*) {
  return EOPNOTSUPP;
}

SOFTSPINE_VERB ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, uint64_t, size_t, uint64_t, int, int) {
  return softspine::testbeds::refuse(EOPNOTSUPP);
}
SOFTSPINE_VERB int ibv_rereg_mr(ibv_mr*, int, ibv_pd*, void*, size_t, int) {
  errno = EOPNOTSUPP;
  return IBV_REREG_MR_ERR_CMD;
}
