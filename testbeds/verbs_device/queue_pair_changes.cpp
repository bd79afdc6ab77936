// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/queue_pair_changes.hpp"

#include <cerrno>
#include <cstring>
#include <optional>

#include "testbeds/verbs_device/shared/device_calls.hpp"

namespace softspine::testbeds {

namespace {

// The attributes that a step needs, and those that it allows beside them.
struct Step {
  uint32_t needed = 0;
  uint32_t allowed = 0;
};

Step to_rtr(uint32_t type) {
  constexpr uint32_t kPath = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  if (type == IBV_QPT_UD) return {0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY};
  return {type == IBV_QPT_RC ? kPath | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER : kPath,
          IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX};
}

Step to_rts(uint32_t type, bool is_there) {
  constexpr uint32_t kReliable = IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  const uint32_t needed = type == IBV_QPT_RC ? IBV_QP_SQ_PSN | kReliable : uint32_t{IBV_QP_SQ_PSN};
  const uint32_t allowed = type == IBV_QPT_UD   ? uint32_t{IBV_QP_QKEY}
                           : type == IBV_QPT_RC ? uint32_t{IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER}
                                                : uint32_t{IBV_QP_ACCESS_FLAGS};
  return {is_there ? 0 : needed, allowed | IBV_QP_CUR_STATE};
}

// None: there is no such step.
std::optional<Step> step_of(uint32_t type, uint32_t from, uint32_t to) {
  const uint32_t at_first = IBV_QP_PKEY_INDEX | IBV_QP_PORT | (type == IBV_QPT_UD ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS);
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return Step{};
  if (from == IBV_QPS_RESET && to == IBV_QPS_INIT) return Step{at_first, 0};
  if (from == IBV_QPS_INIT && to == IBV_QPS_INIT) return Step{0, at_first};
  if (from == IBV_QPS_INIT && to == IBV_QPS_RTR) return to_rtr(type);
  if ((from == IBV_QPS_RTR || from == IBV_QPS_RTS) && to == IBV_QPS_RTS) return to_rts(type, from == to);
  return std::nullopt;
}

}  // namespace

int error_in(const QueuePair& pair, const QueuePairChange& change, uint32_t largest_mtu) noexcept {
  const QueuePairAttributes& to = change.attributes;
  const auto sets = [&](uint32_t bit) { return (change.mask & bit) != 0; };
  const uint32_t from = pair.attributes.state;
  const uint32_t state = sets(IBV_QP_STATE) ? to.state : from;
  if (state == IBV_QPS_SQD || state == IBV_QPS_SQE || state > IBV_QPS_ERR) return EOPNOTSUPP;
  if (sets(IBV_QP_ALT_PATH) || sets(IBV_QP_PATH_MIG_STATE) || sets(IBV_QP_RATE_LIMIT)) return EOPNOTSUPP;
  const std::optional<Step> step = step_of(pair.type, from, state);
  if (!step || (change.mask & step->needed) != step->needed) return EINVAL;
  if ((change.mask & ~(step->needed | step->allowed | IBV_QP_STATE)) != 0) return EINVAL;
  if (sets(IBV_QP_PORT) && to.port != 1) return EINVAL;
  if (sets(IBV_QP_PATH_MTU) && (to.path_mtu < IBV_MTU_256 || to.path_mtu > largest_mtu)) return EINVAL;
  if (sets(IBV_QP_MAX_QP_RD_ATOMIC) && to.most_reads > kReadLimit) return EINVAL;
  if (sets(IBV_QP_MAX_DEST_RD_ATOMIC) && to.most_reads_of_peer > kReadLimit) return EINVAL;
  if (sets(IBV_QP_AV) && (to.has_address == 0 || to.gid_index >= kGids)) return EINVAL;
  return 0;
}

void carry_out(QueuePair& pair, const QueuePairChange& change) noexcept {
  QueuePairAttributes& own = pair.attributes;
  const QueuePairAttributes& to = change.attributes;
  const uint32_t mask = change.mask;
  const auto set = [mask](uint32_t bit, auto& mine, const auto& theirs) {
    if ((mask & bit) != 0) mine = theirs;
  };
  const uint32_t before = own.state;
  set(IBV_QP_STATE, own.state, to.state);
  set(IBV_QP_PATH_MTU, own.path_mtu, to.path_mtu);
  set(IBV_QP_QKEY, own.qkey, to.qkey);
  set(IBV_QP_RQ_PSN, own.receive_psn, to.receive_psn & dataplane::bth::kMask24);
  set(IBV_QP_SQ_PSN, own.send_psn, to.send_psn & dataplane::bth::kMask24);
  set(IBV_QP_DEST_QPN, own.destination_qp, to.destination_qp & dataplane::bth::kMask24);
  set(IBV_QP_ACCESS_FLAGS, own.access, to.access);
  set(IBV_QP_MAX_QP_RD_ATOMIC, own.most_reads, to.most_reads);
  set(IBV_QP_MAX_DEST_RD_ATOMIC, own.most_reads_of_peer, to.most_reads_of_peer);
  set(IBV_QP_MIN_RNR_TIMER, own.rnr_timer, to.rnr_timer & 31);
  set(IBV_QP_TIMEOUT, own.timeout, to.timeout & 31);
  set(IBV_QP_RETRY_CNT, own.retries, to.retries & 7);
  set(IBV_QP_RNR_RETRY, own.rnr_retries, to.rnr_retries & 7);
  set(IBV_QP_PORT, own.port, to.port);
  if ((mask & IBV_QP_AV) != 0) {
    std::memcpy(own.gid, to.gid, sizeof own.gid);
    own.gid_index = to.gid_index;
    own.hop_limit = to.hop_limit;
    own.traffic_class = to.traffic_class;
    own.flow_label = to.flow_label;
    own.has_address = 1;
  }
  if (own.state == IBV_QPS_RESET) {
    own = {};
    pair.sends.reset();
    pair.receives.reset();
    pair.requester.reset();
    pair.receiver = {};
  }
  if (before != IBV_QPS_RTR && own.state == IBV_QPS_RTR) {
    if (own.path_mtu == 0) own.path_mtu = pair.port_mtu;
    pair.receiver.expected = own.receive_psn;
  }
  pair.requester.use(own);
  if (before == IBV_QPS_RTR && own.state == IBV_QPS_RTS) pair.requester.start(own.send_psn);
}

}  // namespace softspine::testbeds
