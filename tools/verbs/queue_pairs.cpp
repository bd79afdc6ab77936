// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/queue_pairs.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace softspine::tools {

namespace {

// Requests that may wait in a queue: parts or credits under way, and as many that are done but not yet seen to be.
constexpr uint32_t kRequestsPerSlot = 2;
constexpr uint8_t kRetries = 7;
constexpr uint8_t kHopLimit = 64;

// The completion of a credit that we have sent: nobody waits for it. Others' ids are messages, far below.
constexpr uint64_t kCredit = UINT64_MAX;

uint32_t random_psn() {
  uint32_t psn = 0;
  if (getrandom(&psn, sizeof psn, 0) != sizeof psn) psn = 0;
  return psn & 0xFFFFFF;
}

ibv_mtu mtu_of(uint32_t bytes) {
  return static_cast<ibv_mtu>(std::countr_zero(bytes) - 7);  // 256 is IBV_MTU_256 = 1
}

}  // namespace

std::string QueuePairs::failed(const char* what) const {
  const std::string why = std::strerror(errno);
  return fmt::format("{}: {}: {}{}", port_->device, what, why,
                     errno == ENOMEM ? "; fewer --qps, a smaller --depth, or more locked memory (ulimit -l)?" : "");
}

std::expected<QueuePairs, std::string> QueuePairs::make(const RdmaPort& port, const Terms& terms) {
  QueuePairs out{port};
  out.depth_ = terms.depth;
  out.slot_bytes_ = terms.spread.largest_part_bytes();
  out.memory_.resize(terms.buffer_bytes());
  ibv_context* context = port.context.get();
  out.domain_.reset(ibv_alloc_pd(context));
  if (!out.domain_) return std::unexpected(out.failed("no protection domain"));
  out.region_.reset(ibv_reg_mr(out.domain_.get(), out.memory_.data(), out.memory_.size(),
                               IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
  if (!out.region_) return std::unexpected(out.failed("the buffers cannot be registered"));
  out.channel_.reset(ibv_create_comp_channel(context));
  if (!out.channel_) return std::unexpected(out.failed("no completion channel"));
  const auto requests = static_cast<int>(2 * kRequestsPerSlot * terms.depth * terms.spread.queue_pairs);
  out.completions_.reset(ibv_create_cq(context, requests, nullptr, out.channel_.get(), 0));
  if (!out.completions_ || ibv_req_notify_cq(out.completions_.get(), 0) != 0)
    return std::unexpected(out.failed("no completion queue"));
  for (uint32_t i = 0; i < terms.spread.queue_pairs; ++i) {
    if (auto made = out.make_queue_pair(); !made) return std::unexpected(made.error());
  }
  return out;
}

std::expected<void, std::string> QueuePairs::make_queue_pair() {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = completions_.get();
  wanted.cap = {.max_send_wr = kRequestsPerSlot * depth_,
                .max_recv_wr = kRequestsPerSlot * depth_,
                .max_send_sge = 1,
                .max_recv_sge = 1,
                .max_inline_data = 0};
  wanted.qp_type = IBV_QPT_RC;
  wanted.sq_sig_all = 1;
  QueuePair made{ibv_create_qp(domain_.get(), &wanted)};
  if (!made) return std::unexpected(failed("no queue pair"));
  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_INIT;
  state.port_num = port_->number;
  state.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  errno = ibv_modify_qp(made.get(), &state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (errno != 0) return std::unexpected(failed("the queue pair cannot be initialised"));
  queue_pairs_.push_back(std::move(made));
  first_psns_.push_back(random_psn());
  return {};
}

End QueuePairs::end() const {
  End end{.gid = port_->gid, .device = port_->device, .mtu_bytes = port_->mtu_bytes};
  for (size_t i = 0; i < queue_pairs_.size(); ++i)
    end.queue_pairs.push_back({.number = queue_pairs_[i]->qp_num, .first_psn = first_psns_[i]});
  end.address = reinterpret_cast<uint64_t>(memory_.data());
  end.key = region_->rkey;
  return end;
}

std::expected<void, std::string> QueuePairs::connect(const Terms& terms, const End& peer) {
  if (peer.queue_pairs.size() != queue_pairs_.size())
    return std::unexpected(
        fmt::format("the other end has {} queue pairs, not {}", peer.queue_pairs.size(), queue_pairs_.size()));
  peer_address_ = peer.address;
  peer_key_ = peer.key;
  for (uint32_t i = 0; i < queue_pairs_.size(); ++i) {
    if (auto ready = make_ready(i, terms, peer); !ready) return ready;
    for (uint32_t n = 0; n < kRequestsPerSlot * depth_; ++n) {
      if (auto posted = post_receive(i); !posted) return posted;
    }
  }
  return {};
}

std::expected<void, std::string> QueuePairs::make_ready(uint32_t index, const Terms& terms, const End& peer) {
  const uint32_t common = std::min(port_->mtu_bytes, peer.mtu_bytes);
  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_RTR;
  state.path_mtu = mtu_of(terms.mtu_bytes == 0 ? common : std::min(terms.mtu_bytes, common));
  state.dest_qp_num = peer.queue_pairs[index].number;
  state.rq_psn = peer.queue_pairs[index].first_psn;
  state.max_dest_rd_atomic = 1;
  state.min_rnr_timer = 12;
  state.ah_attr.is_global = 1;
  state.ah_attr.port_num = port_->number;
  std::ranges::copy(peer.gid, state.ah_attr.grh.dgid.raw);
  state.ah_attr.grh.sgid_index = port_->gid_index;
  state.ah_attr.grh.hop_limit = kHopLimit;
  state.ah_attr.grh.traffic_class = static_cast<uint8_t>(terms.dscp << 2);
  state.ah_attr.grh.flow_label = terms.flow_label;
  errno = ibv_modify_qp(queue_pairs_[index].get(), &state,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (errno != 0) return std::unexpected(failed("the queue pair does not become ready to receive"));
  state = {};
  state.qp_state = IBV_QPS_RTS;
  state.timeout = static_cast<uint8_t>(terms.ack_timeout);
  state.retry_cnt = kRetries;
  state.rnr_retry = kRetries;
  state.sq_psn = first_psns_[index];
  state.max_rd_atomic = 1;
  errno = ibv_modify_qp(
      queue_pairs_[index].get(), &state,
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  if (errno != 0) return std::unexpected(failed("the queue pair does not become ready to send"));
  return {};
}

std::span<uint8_t> QueuePairs::buffer(uint32_t queue_pair, uint64_t slot) {
  return {memory_.data() + (uint64_t{queue_pair} * depth_ + slot) * slot_bytes_, slot_bytes_};
}

std::expected<void, std::string> QueuePairs::write(uint32_t queue_pair, uint64_t slot, uint64_t bytes,
                                                   uint32_t immediate, uint64_t id) {
  const auto place = reinterpret_cast<uint64_t>(buffer(queue_pair, slot).data());
  ibv_sge part{.addr = place, .length = static_cast<uint32_t>(bytes), .lkey = region_->lkey};
  ibv_send_wr request{};
  request.wr_id = id;
  request.sg_list = &part;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.imm_data = htonl(immediate);
  request.wr.rdma = {.remote_addr = peer_address_ + (place - reinterpret_cast<uint64_t>(memory_.data())),
                     .rkey = peer_key_};
  ibv_send_wr* bad = nullptr;
  errno = ibv_post_send(queue_pairs_[queue_pair].get(), &request, &bad);
  if (errno != 0) return std::unexpected(failed("a write was refused"));
  return {};
}

std::expected<void, std::string> QueuePairs::send_credit(uint32_t queue_pair) {
  ibv_send_wr request{};
  request.wr_id = kCredit;
  request.opcode = IBV_WR_SEND;
  ibv_send_wr* bad = nullptr;
  errno = ibv_post_send(queue_pairs_[queue_pair].get(), &request, &bad);
  if (errno != 0) return std::unexpected(failed("a send was refused"));
  return {};
}

std::expected<void, std::string> QueuePairs::post_receive(uint32_t queue_pair) {
  ibv_recv_wr request{};
  ibv_recv_wr* bad = nullptr;
  errno = ibv_post_recv(queue_pairs_[queue_pair].get(), &request, &bad);
  if (errno != 0) return std::unexpected(failed("a receive was refused"));
  return {};
}

std::string QueuePairs::failure_of(const ibv_wc& completion) const {
  return fmt::format("{}: queue pair {}: {}", port_->device, completion.qp_num, ibv_wc_status_str(completion.status));
}

std::expected<void, std::string> QueuePairs::complete(
    const std::function<std::expected<void, std::string>(const Completion&)>& see) {
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  if (ibv_get_cq_event(channel_.get(), &queue, &context) != 0) return std::unexpected(failed("no completion event"));
  ibv_ack_cq_events(queue, 1);
  // Asked for the next event before looking: what comes in between is seen now or announced.
  if (ibv_req_notify_cq(queue, 0) != 0) return std::unexpected(failed("completions are not announced"));
  ibv_wc found[16];
  for (int count = 0; (count = ibv_poll_cq(queue, std::size(found), found)) != 0;) {
    if (count < 0) return std::unexpected(failed("the completion queue cannot be read"));
    for (const ibv_wc& each : std::span{found, static_cast<size_t>(count)}) {
      if (each.status != IBV_WC_SUCCESS) return std::unexpected(failure_of(each));
      const bool is_receive = (each.opcode & IBV_WC_RECV) != 0;
      if (!is_receive && each.wr_id == kCredit) continue;
      const auto pair = std::ranges::find(queue_pairs_, each.qp_num, [](const QueuePair& it) { return it->qp_num; });
      const Completion completion{.queue_pair = static_cast<uint32_t>(pair - queue_pairs_.begin()),
                                  .is_receive = is_receive,
                                  .is_write_from_peer = each.opcode == IBV_WC_RECV_RDMA_WITH_IMM,
                                  .id = each.wr_id,
                                  .immediate = ntohl(each.imm_data),
                                  .bytes = each.byte_len};
      if (auto seen = see(completion); !seen) return seen;
    }
  }
  return {};
}

}  // namespace softspine::tools
