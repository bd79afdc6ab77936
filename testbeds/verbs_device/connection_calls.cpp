// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/connection_calls.hpp"

#include <netinet/in.h>
#include <rdma/rdma_user_cm.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace softspine::testbeds {

using namespace dataplane;
using State = Connection::State;

namespace {

constexpr uint32_t kUdpQkey = 0x01234567;  // RDMA_UDP_QKEY

// As far as it is there.
template <typename Body>
Body read(std::span<const uint8_t> bytes) {
  Body body{};
  std::memcpy(&body, bytes.data(), std::min(sizeof body, bytes.size()));
  return body;
}

template <typename Response>
int answer(DeviceReply& reply, const Response& response) {
  static_assert(sizeof response <= kCommandBytes);
  std::memcpy(reply.response, &response, sizeof response);
  reply.response_bytes = sizeof response;
  return 0;
}

struct Endpoint {
  IpAddress address;
  uint16_t port;
};
// False: of neither family.
bool endpoint_of(const sockaddr_in6& from, Endpoint& out) {
  if (from.sin6_family == AF_INET6) {
    std::array<uint8_t, 16> bytes;
    std::memcpy(bytes.data(), from.sin6_addr.s6_addr, bytes.size());
    out = {address_of_gid(bytes.data()), ntohs(from.sin6_port)};
    return true;
  }
  if (from.sin6_family != AF_INET) return false;
  sockaddr_in v4;
  std::memcpy(&v4, &from, sizeof v4);
  out = {IpAddress{Ipv4Address{ntohl(v4.sin_addr.s_addr)}}, ntohs(v4.sin_port)};
  return true;
}

sockaddr_in6 socket_address(const IpAddress& address, uint16_t port) {
  sockaddr_in6 out{};
  if (const auto* v4 = std::get_if<Ipv4Address>(&address)) {
    sockaddr_in short_one{};
    short_one.sin_family = AF_INET;
    short_one.sin_port = htons(port);
    short_one.sin_addr.s_addr = htonl(*v4);
    std::memcpy(&out, &short_one, sizeof short_one);
    return out;
  }
  out.sin6_family = AF_INET6;
  out.sin6_port = htons(port);
  std::memcpy(out.sin6_addr.s6_addr, std::get<Ipv6Address>(address).data(), sizeof out.sin6_addr.s6_addr);
  return out;
}

ConnectionParameters parameters_of(const rdma_ucm_conn_param& from) {
  ConnectionParameters to;
  to.qp = from.qp_num & bth::kMask24;
  to.qkey = from.qkey;
  to.has_srq = from.srq != 0;
  to.responder_resources = from.responder_resources;
  to.initiator_depth = from.initiator_depth;
  to.retries = from.retry_count;
  to.rnr_retries = from.rnr_retry_count;
  to.data_bytes = from.private_data_len;
  std::copy_n(from.private_data, to.data.size(), to.data.begin());
  return to;
}

// As a queue pair, or who sends a datagram, reaches the peer.
ib_uverbs_ah_attr path_of(const Connection& one) {
  ib_uverbs_ah_attr path{};
  std::ranges::copy(gid_of(one.destination), path.grh.dgid);
  path.grh.flow_label = one.flow_label;
  path.grh.sgid_index = std::holds_alternative<Ipv4Address>(one.destination) ? 0 : 1;
  path.grh.hop_limit = kResponseTtl;
  path.grh.traffic_class = one.traffic_class;
  path.is_global = 1;
  path.port_num = 1;
  return path;
}

ib_user_path_rec route_of(const Connection& one, uint8_t mtu) {
  ib_user_path_rec route{};
  std::ranges::copy(gid_of(one.destination), route.dgid);
  std::ranges::copy(gid_of(one.source), route.sgid);
  route.flow_label = htonl(one.flow_label);
  route.reversible = 1;
  route.mtu = mtu;
  route.pkey = htons(0xffff);
  route.hop_limit = kResponseTtl;
  route.traffic_class = one.traffic_class;
  route.numb_path = 1;
  route.mtu_selector = route.rate_selector = route.packet_life_time_selector = 2;  // exactly
  route.packet_life_time = 16;
  return route;
}

// Before a program has accepted it has said nothing.
uint8_t agreed(const Connection& one, uint8_t own, uint8_t theirs) {
  return one.state == State::kRequestArrived ? theirs : std::min(own, theirs);
}

void put_init(const Connection& one, ib_uverbs_qp_attr& to) {
  to.qp_attr_mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  to.port_num = 1;
  if (one.is_datagram()) {
    to.qp_attr_mask |= IBV_QP_QKEY;
    to.qkey = kUdpQkey;
    return;
  }
  to.qp_attr_mask |= IBV_QP_ACCESS_FLAGS;
  if (one.state == State::kIdle) return;
  to.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  if (one.type != IBV_QPT_UC) to.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
}

void put_ready_to_receive(const Connection& one, ib_uverbs_qp_attr& to) {
  to.qp_attr_mask = IBV_QP_STATE;
  if (one.is_datagram()) return;
  to.qp_attr_mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  to.ah_attr = path_of(one);
  to.path_mtu = one.mtu;
  to.dest_qp_num = one.remote.qp;
  to.rq_psn = one.remote_psn;
  if (one.type == IBV_QPT_UC) return;
  to.qp_attr_mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  to.max_dest_rd_atomic = agreed(one, one.own.responder_resources, one.remote.responder_resources);
}

void put_ready_to_send(const Connection& one, ib_uverbs_qp_attr& to) {
  to.qp_attr_mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  if (one.is_datagram()) return;
  to.sq_psn = one.own_psn & bth::kMask24;
  if (one.type == IBV_QPT_UC) return;
  to.qp_attr_mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  to.timeout = one.ack_timeout;
  to.retry_cnt = one.is_active ? one.own.retries : one.remote.retries;
  to.rnr_retry = one.remote.rnr_retries;
  to.max_rd_atomic = agreed(one, one.own.initiator_depth, one.remote.initiator_depth);
}

void put_event(const ConnectionEvent& event, const Connection& whose, rdma_ucm_event_resp& to) {
  to.uid = event.uid;
  to.id = event.named;
  to.event = static_cast<uint32_t>(event.kind);
  to.status = static_cast<uint32_t>(event.status);
  const ConnectionParameters& from = event.parameters;
  if (whose.is_datagram()) {
    rdma_ucm_ud_param& ud = to.param.ud;
    ud.qp_num = from.qp;
    ud.qkey = from.qkey;
    ud.private_data_len = from.data_bytes;
    std::ranges::copy(from.data, ud.private_data);
    ud.ah_attr = path_of(whose);
    return;
  }
  rdma_ucm_conn_param& conn = to.param.conn;
  conn.qp_num = from.qp;
  conn.qkey = from.qkey;
  conn.private_data_len = from.data_bytes;
  std::ranges::copy(from.data, conn.private_data);
  conn.srq = from.has_srq;
  conn.responder_resources = from.responder_resources;
  conn.initiator_depth = from.initiator_depth;
  conn.retry_count = from.retries;
  conn.rnr_retry_count = from.rnr_retries;
}

}  // namespace

int ConnectionCalls::carry_out(uint32_t client, const DeviceRequest& request, uint8_t mtu, DeviceReply& reply) {
  const std::span<const uint8_t> all(request.command, std::min(request.command_bytes, kCommandBytes));
  if (all.size() < sizeof(rdma_ucm_cmd_hdr)) return EINVAL;
  const Caller caller{client, request.handle, all.subspan(sizeof(rdma_ucm_cmd_hdr)), mtu, reply};
  // Of commands that begin with a number.
  const auto with = [&](auto&& act) -> int {
    Connection* const one = connections_.find(read<uint32_t>(caller.body), client);
    return one == nullptr ? ENOENT : act(*one);
  };
  switch (read<rdma_ucm_cmd_hdr>(all).cmd) {
    case RDMA_USER_CM_CMD_CREATE_ID: return create(caller);
    case RDMA_USER_CM_CMD_DESTROY_ID: return destroy(caller);
    case RDMA_USER_CM_CMD_BIND_IP: return bind(caller);
    case RDMA_USER_CM_CMD_RESOLVE_IP: return resolve(caller);
    case RDMA_USER_CM_CMD_RESOLVE_ROUTE: return with([this](Connection& one) { return connections_.find_route(one); });
    case RDMA_USER_CM_CMD_QUERY_ROUTE: return query_route(caller);
    case RDMA_USER_CM_CMD_CONNECT: return connect(caller);
    case RDMA_USER_CM_CMD_LISTEN:
      return with(
          [&](Connection& one) { return connections_.listen(one, read<rdma_ucm_listen>(caller.body).backlog); });
    case RDMA_USER_CM_CMD_ACCEPT: return accept(caller);
    case RDMA_USER_CM_CMD_REJECT: return reject(caller);
    case RDMA_USER_CM_CMD_DISCONNECT: return with([this](Connection& one) { return connections_.disconnect(one); });
    case RDMA_USER_CM_CMD_INIT_QP_ATTR: return query_attributes(caller);
    case RDMA_USER_CM_CMD_GET_EVENT: return take_event(caller);
    case RDMA_USER_CM_CMD_SET_OPTION: return set_option(caller);
    case RDMA_USER_CM_CMD_NOTIFY: return with([](Connection&) { return 0; });
    case RDMA_USER_CM_CMD_MIGRATE_ID: return move(caller);
    default: return ENOSYS;
  }
}

int ConnectionCalls::create(const Caller& caller) {
  const auto body = read<rdma_ucm_create_id>(caller.body);
  if (body.ps != kTcpSpace && body.ps != kUdpSpace) return EPROTONOSUPPORT;
  Connection draft;
  draft.client = caller.client;
  draft.channel = caller.channel;
  draft.uid = body.uid;
  draft.space = body.ps;
  draft.type = body.qp_type != 0 ? body.qp_type : body.ps == kUdpSpace ? uint8_t{IBV_QPT_UD} : uint8_t{IBV_QPT_RC};
  rdma_ucm_create_id_resp response{};
  if (const int wrong = connections_.create(draft, response.id); wrong != 0) return wrong;
  return answer(caller.reply, response);
}

int ConnectionCalls::destroy(const Caller& caller) {
  Connection* const one = connections_.find(read<rdma_ucm_destroy_id>(caller.body).id, caller.client);
  if (one == nullptr) return ENOENT;
  const rdma_ucm_destroy_id_resp response{.events_reported = one->events_reported};
  connections_.destroy(*one);
  return answer(caller.reply, response);
}

int ConnectionCalls::bind(const Caller& caller) {
  const auto body = read<rdma_ucm_bind_ip>(caller.body);
  Connection* const one = connections_.find(body.id, caller.client);
  Endpoint to;
  if (one == nullptr) return ENOENT;
  if (!endpoint_of(body.addr, to)) return EAFNOSUPPORT;
  return connections_.bind(*one, to.address, to.port);
}

int ConnectionCalls::resolve(const Caller& caller) {
  const auto body = read<rdma_ucm_resolve_ip>(caller.body);
  Connection* const one = connections_.find(body.id, caller.client);
  Endpoint from;
  Endpoint to;
  if (one == nullptr) return ENOENT;
  if (!endpoint_of(body.dst_addr, to)) return EAFNOSUPPORT;
  if (!one->is_bound && endpoint_of(body.src_addr, from)) {
    if (const int wrong = connections_.bind(*one, from.address, from.port); wrong != 0) return wrong;
  }
  return connections_.resolve(*one, to.address, to.port);
}

int ConnectionCalls::query_route(const Caller& caller) {
  const Connection* const one = connections_.find(read<rdma_ucm_query>(caller.body).id, caller.client);
  if (one == nullptr) return ENOENT;
  rdma_ucm_query_route_resp response{};
  response.src_addr = socket_address(one->source, one->source_port);
  response.dst_addr = socket_address(one->destination, one->destination_port);
  // A device is known once there is a peer, or an address of the device's own.
  const bool has_device = one->destination_port != 0 || one->source != IpAddress{Ipv4Address{0}};
  if (has_device && one->source != IpAddress{Ipv6Address{}}) {
    uint64_t guid = guid_of(ground_.host.mac);
    std::array<uint8_t, 8> bytes;
    store64(bytes.data(), guid);
    std::memcpy(&response.node_guid, bytes.data(), bytes.size());
    response.port_num = 1;
  }
  if (one->has_route) {
    response.num_paths = 1;
    response.ib_route[0] = route_of(*one, caller.mtu);
  }
  return answer(caller.reply, response);
}

int ConnectionCalls::connect(const Caller& caller) {
  const auto body = read<rdma_ucm_connect>(caller.body);
  Connection* const one = connections_.find(body.id, caller.client);
  if (one == nullptr) return ENOENT;
  return connections_.connect(*one, parameters_of(body.conn_param), caller.mtu);
}

int ConnectionCalls::accept(const Caller& caller) {
  const auto body = read<rdma_ucm_accept>(caller.body);
  Connection* const one = connections_.find(body.id, caller.client);
  if (one == nullptr) return ENOENT;
  ConnectionParameters own = parameters_of(body.conn_param);
  if (own.qkey == 0) own.qkey = kUdpQkey;
  return connections_.accept(*one, body.uid, body.conn_param.valid != 0 ? &own : nullptr);
}

int ConnectionCalls::reject(const Caller& caller) {
  const auto body = read<rdma_ucm_reject>(caller.body);
  Connection* const one = connections_.find(body.id, caller.client);
  if (one == nullptr) return ENOENT;
  ConnectionParameters why;
  why.data_bytes = body.private_data_len;
  std::copy_n(body.private_data, why.data.size(), why.data.begin());
  return connections_.reject(*one, why);
}

int ConnectionCalls::query_attributes(const Caller& caller) {
  const auto body = read<rdma_ucm_init_qp_attr>(caller.body);
  const Connection* const one = connections_.find(body.id, caller.client);
  if (one == nullptr) return ENOENT;
  ib_uverbs_qp_attr response{};
  switch (body.qp_state) {
    case IBV_QPS_INIT: put_init(*one, response); break;
    case IBV_QPS_RTR: put_ready_to_receive(*one, response); break;
    case IBV_QPS_RTS: put_ready_to_send(*one, response); break;
    default: return EINVAL;
  }
  response.qp_state = body.qp_state;
  return answer(caller.reply, response);
}

// EAGAIN: the word in the descriptor was of one that has gone.
int ConnectionCalls::take_event(const Caller& caller) {
  const auto event = connections_.take_event(caller.channel, caller.client);
  if (!event) return EAGAIN;
  rdma_ucm_event_resp response{};
  const Connection* const named = connections_.find(event->named, caller.client);
  if (named == nullptr) return EAGAIN;
  put_event(*event, *named, response);
  return answer(caller.reply, response);
}

// The option's value stands behind the command.
int ConnectionCalls::set_option(const Caller& caller) {
  const auto body = read<rdma_ucm_set_option>(caller.body);
  Connection* const one = connections_.find(body.id, caller.client);
  if (one == nullptr) return ENOENT;
  const auto value = caller.body.subspan(std::min(caller.body.size(), sizeof body));
  if (body.level == RDMA_OPTION_IB) return body.optname == RDMA_OPTION_IB_PATH ? connections_.find_route(*one) : ENOSYS;
  if (body.level != RDMA_OPTION_ID || value.empty()) return EINVAL;
  switch (body.optname) {
    case RDMA_OPTION_ID_TOS: one->traffic_class = value[0]; return 0;
    case RDMA_OPTION_ID_REUSEADDR: one->reuses_address = read<uint32_t>(value) != 0; return 0;
    case RDMA_OPTION_ID_AFONLY: return 0;
    case RDMA_OPTION_ID_ACK_TIMEOUT: one->ack_timeout = value[0] & 31; return 0;
    default: return ENOSYS;
  }
}

int ConnectionCalls::move(const Caller& caller) {
  Connection* const one = connections_.find(read<rdma_ucm_migrate_id>(caller.body).id, caller.client);
  if (one == nullptr) return ENOENT;
  connections_.move(*one, caller.channel);
  return answer(caller.reply, rdma_ucm_migrate_resp{.events_reported = one->events_reported});
}

}  // namespace softspine::testbeds
