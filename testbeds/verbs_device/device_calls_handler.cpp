// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/device_calls_handler.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <string_view>
#include <utility>

#include "testbeds/verbs_device/device_files.hpp"
#include "testbeds/verbs_device/queue_pair_changes.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

// `reads` is the program's end. Not a pipe: who writes to one that its reader has closed is killed.
bool make_channel(OwnedFd& reads, OwnedFd& writes) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  reads = OwnedFd{ends[0]};
  writes = OwnedFd{ends[1]};
  return true;
}

// Datagrams get more than was asked for. UCX's connection requests, of some 65 bytes, go inline where they fit; else
// UCX uses their memory again as soon as the peer's own request comes, which an adapter has read by then, and a fabric
// that waits for a core has not.
uint32_t inline_bytes_of(const DeviceRequest& request) {
  return request.number == IBV_QPT_UD ? std::max(kDatagramInline, request.sizes.inline_bytes)
                                      : request.sizes.inline_bytes;
}

}  // namespace

std::optional<uint32_t> DeviceCallsHandler::add_client(pid_t process) {
  const auto free = std::ranges::find_if(objects_.clients, [](const auto& each) { return !each; });
  const auto number = static_cast<uint32_t>(free - objects_.clients.begin());
  if (number >= kClientLimit) return std::nullopt;
  auto made = std::make_unique<VerbsClient>(process);
  made->doorbells = SealedMemory::make(sizeof(Doorbells));
  if (!made->doorbells) return std::nullopt;
  if (free == objects_.clients.end()) {
    objects_.clients.push_back(std::move(made));
  } else {
    *free = std::move(made);
  }
  return number;
}

void DeviceCallsHandler::handle(uint32_t client, const DeviceRequest& request, CallResult& out) {
  const auto carry_out = [&]() -> int {
    const bool needs_none = request.call == Call::kOpen || request.call == Call::kReadFile;
    if (!needs_none && !objects_.clients[client]->events) return EPROTO;
    switch (request.call) {
      case Call::kOpen: return open(client, request, out);
      case Call::kQueryPort: return 0;
      case Call::kAllocatePd: return allocate_pd(client, out);
      case Call::kFreePd: return free_pd(client, request);
      case Call::kRegisterMemory: return register_memory(client, request, out);
      case Call::kForgetMemory: return forget_memory(client, request);
      case Call::kCreateChannel: return create_channel(client, out);
      case Call::kDestroyChannel: return destroy_channel(client, request);
      case Call::kCreateCq: return create_cq(client, request, out);
      case Call::kDestroyCq: return destroy_cq(client, request);
      case Call::kCreateSrq: return create_srq(client, request, out);
      case Call::kModifySrq: return modify_srq(client, request);
      case Call::kQuerySrq: return query_srq(client, request, out);
      case Call::kDestroySrq: return destroy_srq(client, request);
      case Call::kCreateQp: return create_qp(client, request, out);
      case Call::kModifyQp: return modify_qp(client, request);
      case Call::kQueryQp: return query_qp(client, request, out);
      case Call::kDestroyQp: return destroy_qp(client, request);
      case Call::kConnectionCommand: return carry_out_connection_command(client, request, out);
      case Call::kReadFile: return read_file(request, out);
      case Call::kWake: break;  // no call of an object: CallServer takes it
    }
    return ENOSYS;
  };
  out.reply.error = carry_out();
  out.reply.port = port_;
}

int DeviceCallsHandler::open(uint32_t client, const DeviceRequest& request, CallResult& out) {
  VerbsClient& caller = *objects_.clients[client];
  if (request.number != kDeviceVersion) return EPROTONOSUPPORT;
  if (caller.events) return EBUSY;
  if (!make_channel(out.owned[0], caller.events)) return errno;
  out.fds = {caller.doorbells.fd(), out.owned[0].get()};
  out.sent_memory = &caller.doorbells;
  return 0;
}

int DeviceCallsHandler::allocate_pd(uint32_t client, CallResult& out) {
  constexpr size_t kPdLimit = 32'768;
  auto& pds = objects_.clients[client]->pds;
  if (pds.size() >= kPdLimit) return ENOMEM;
  out.reply.handle = next_pd_++;
  pds.insert(out.reply.handle);
  return 0;
}

int DeviceCallsHandler::free_pd(uint32_t client, const DeviceRequest& request) {
  if (!has_pd(client, request.handle)) return EINVAL;
  uint32_t users = objects_.regions.count_of_pd(request.handle);
  const auto count = [&](const auto& object) { users += object.pd == request.handle; };
  objects_.queue_pairs.for_each(count);
  objects_.shared_queues.for_each(count);
  if (users != 0) return EBUSY;
  objects_.clients[client]->pds.erase(request.handle);
  return 0;
}

int DeviceCallsHandler::register_memory(uint32_t client, const DeviceRequest& request, CallResult& out) {
  constexpr uint32_t kKnown = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                              IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_RELAXED_ORDERING;
  constexpr uint32_t kNeedsLocal = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  if (!has_pd(client, request.pd) || request.address + request.length < request.address) return EINVAL;
  if ((request.access & ~kKnown) != 0) return EOPNOTSUPP;
  const bool is_local = (request.access & IBV_ACCESS_LOCAL_WRITE) != 0;
  if ((request.access & kNeedsLocal) != 0 && !is_local) return EINVAL;
  const auto key = objects_.regions.add({.client = client,
                                         .pd = request.pd,
                                         .access = request.access,
                                         .address = request.address,
                                         .length = request.length,
                                         .iova = request.remote_address});
  if (!key) return ENOMEM;
  out.reply.handle = out.reply.number = *key;
  return 0;
}

int DeviceCallsHandler::forget_memory(uint32_t client, const DeviceRequest& request) {
  rnic_.flush();
  return objects_.regions.remove(request.handle, client) ? 0 : EINVAL;
}

int DeviceCallsHandler::create_channel(uint32_t client, CallResult& out) {
  uint32_t handle = 0;
  CompletionChannel* const made = objects_.channels.add(handle);
  if (made == nullptr) return ENOMEM;
  made->client = client;
  if (!make_channel(out.owned[0], made->fd)) {
    objects_.channels.remove(handle);
    return EMFILE;
  }
  out.fds[0] = out.owned[0].get();
  out.reply.handle = handle;
  return 0;
}

int DeviceCallsHandler::destroy_channel(uint32_t client, const DeviceRequest& request) {
  const CompletionChannel* const channel = own(objects_.channels, request.handle, client);
  if (channel == nullptr) return EINVAL;
  if (channel->users != 0) return EBUSY;
  rnic_.connections().forget_channel(request.handle);
  objects_.channels.remove(request.handle);
  return 0;
}

int DeviceCallsHandler::create_cq(uint32_t client, const DeviceRequest& request, CallResult& out) {
  if (request.number == 0 || request.number > kCompletionSlotLimit) return EINVAL;
  const uint32_t slots = std::bit_ceil(request.number);
  if (!has_slots(slots)) return ENOMEM;
  CompletionChannel* channel = nullptr;
  if (request.channel != 0) {
    channel = own(objects_.channels, request.channel - 1, client);
    if (channel == nullptr) return EINVAL;
  }
  uint32_t handle = 0;
  CompletionQueue* const made = objects_.completion_queues.add(handle);
  if (made == nullptr) return ENOMEM;
  if (!made->open(slots)) {
    objects_.completion_queues.remove(handle);
    return ENOMEM;
  }
  made->client = client;
  made->handle = handle;
  made->channel = request.channel;
  if (channel != nullptr) {
    made->channel_fd = channel->fd.get();
    ++channel->users;
  }
  objects_.slots += slots;
  out.reply.handle = handle;
  out.reply.number = slots;
  out.fds[0] = made->memory().fd();
  out.sent_memory = &made->memory();
  return 0;
}

int DeviceCallsHandler::destroy_cq(uint32_t client, const DeviceRequest& request) {
  const CompletionQueue* const queue = own(objects_.completion_queues, request.handle, client);
  if (queue == nullptr) return EINVAL;
  if (queue->users != 0) return EBUSY;
  CompletionChannel* const channel = queue->channel == 0 ? nullptr : objects_.channels.find(queue->channel - 1);
  if (channel != nullptr) --channel->users;
  objects_.slots -= queue->slots();
  objects_.completion_queues.remove(request.handle);
  return 0;
}

int DeviceCallsHandler::create_srq(uint32_t client, const DeviceRequest& request, CallResult& out) {
  const QueueSizes& asked = request.sizes;
  const bool fits =
      asked.receive_slots != 0 && asked.receive_slots <= kSlotLimit && asked.receive_pieces <= kPieceLimit;
  if (!fits || !has_pd(client, request.pd)) return EINVAL;
  const uint32_t slots = std::bit_ceil(asked.receive_slots);
  const uint32_t pieces = std::max(1U, asked.receive_pieces);
  if (!has_slots(slots)) return ENOMEM;
  uint32_t handle = 0;
  SharedReceiveQueue* const made = objects_.shared_queues.add(handle);
  if (made == nullptr) return ENOMEM;
  if (!made->ring.open(slots, receive_slot_bytes(pieces))) {
    objects_.shared_queues.remove(handle);
    return ENOMEM;
  }
  made->client = client;
  made->pd = request.pd;
  made->most_pieces = pieces;
  objects_.slots += slots;
  out.reply.handle = handle;
  out.reply.sizes.receive_slots = slots;
  out.reply.sizes.receive_pieces = pieces;
  out.fds[0] = made->ring.memory().fd();
  out.sent_memory = &made->ring.memory();
  return 0;
}

int DeviceCallsHandler::modify_srq(uint32_t client, const DeviceRequest& request) {
  SharedReceiveQueue* const queue = own(objects_.shared_queues, request.handle, client);
  if (queue == nullptr || request.number > queue->ring.slots()) return EINVAL;
  queue->limit = request.number;
  return 0;
}

int DeviceCallsHandler::query_srq(uint32_t client, const DeviceRequest& request, CallResult& out) {
  const SharedReceiveQueue* const queue = own(objects_.shared_queues, request.handle, client);
  if (queue == nullptr) return EINVAL;
  out.reply.number = queue->limit;
  out.reply.sizes.receive_slots = queue->ring.slots();
  out.reply.sizes.receive_pieces = queue->most_pieces;
  return 0;
}

int DeviceCallsHandler::destroy_srq(uint32_t client, const DeviceRequest& request) {
  const SharedReceiveQueue* const queue = own(objects_.shared_queues, request.handle, client);
  if (queue == nullptr) return EINVAL;
  if (queue->users != 0) return EBUSY;
  objects_.slots -= queue->ring.slots();
  objects_.shared_queues.remove(request.handle);
  return 0;
}

int DeviceCallsHandler::create_qp(uint32_t client, const DeviceRequest& request, CallResult& out) {
  const bool is_known = request.number == IBV_QPT_RC || request.number == IBV_QPT_UC || request.number == IBV_QPT_UD;
  if (!is_known) return EOPNOTSUPP;
  const QueueSizes& asked = request.sizes;
  const bool fits = asked.send_slots <= kSlotLimit && asked.receive_slots <= kSlotLimit &&
                    asked.send_pieces <= kPieceLimit && asked.receive_pieces <= kPieceLimit &&
                    asked.inline_bytes <= kInlineLimit;
  CompletionQueue* const sends = own(objects_.completion_queues, request.send_cq, client);
  CompletionQueue* const receives = own(objects_.completion_queues, request.receive_cq, client);
  SharedReceiveQueue* const shared = request.srq == 0 ? nullptr : own(objects_.shared_queues, request.srq - 1, client);
  if (!fits || sends == nullptr || receives == nullptr || (request.srq != 0 && shared == nullptr) ||
      !has_pd(client, request.pd))
    return EINVAL;
  uint32_t handle = 0;
  QueuePair* const made = objects_.queue_pairs.add(handle);
  if (made == nullptr) return ENOMEM;
  made->number = handle;
  made->client = client;
  made->pd = request.pd;
  made->type = request.number;
  made->send_cq = request.send_cq;
  made->receive_cq = request.receive_cq;
  made->srq = request.srq;
  made->port_mtu = port_.active_mtu;
  made->signals_all = request.signals_all != 0;
  made->sizes = {.send_slots = std::bit_ceil(std::max(1U, asked.send_slots)),
                 .receive_slots = shared != nullptr ? 0 : std::bit_ceil(std::max(1U, asked.receive_slots)),
                 .send_pieces = std::max(1U, asked.send_pieces),
                 .receive_pieces = std::max(1U, asked.receive_pieces),
                 .inline_bytes = inline_bytes_of(request)};
  if (const int wrong = open_rings(*made, out); wrong != 0) {
    objects_.queue_pairs.remove(handle);
    return wrong;
  }
  ++sends->users;
  ++receives->users;
  if (shared != nullptr) ++shared->users;
  out.reply.handle = out.reply.number = handle;
  out.reply.sizes = made->sizes;
  return 0;
}

int DeviceCallsHandler::open_rings(QueuePair& pair, CallResult& out) {
  const QueueSizes& sizes = pair.sizes;
  if (!has_slots(uint64_t{sizes.send_slots} + sizes.receive_slots)) return ENOMEM;
  if (!pair.sends.open(sizes.send_slots, send_slot_bytes(sizes.send_pieces, sizes.inline_bytes))) return ENOMEM;
  if (sizes.receive_slots != 0 && !pair.receives.open(sizes.receive_slots, receive_slot_bytes(sizes.receive_pieces)))
    return ENOMEM;
  pair.requester.open({.type = pair.type, .sizes = sizes});
  objects_.slots += pair.sends.slots() + pair.receives.slots();
  out.fds[0] = pair.sends.memory().fd();
  out.sent_memory = &pair.sends.memory();
  if (sizes.receive_slots == 0) return 0;
  out.fds[1] = pair.receives.memory().fd();
  out.sent_memory_too = &pair.receives.memory();
  return 0;
}

int DeviceCallsHandler::modify_qp(uint32_t client, const DeviceRequest& request) {
  QueuePair* const pair = own(objects_.queue_pairs, request.handle, client);
  if (pair == nullptr) return EINVAL;
  const QueuePairChange change{.mask = request.number, .attributes = request.attributes};
  if (const int wrong = error_in(*pair, change, port_.active_mtu); wrong != 0) return wrong;
  rnic_.flush();
  if ((change.mask & IBV_QP_STATE) != 0 && change.attributes.state == IBV_QPS_ERR) {
    rnic_.completions().fail(*pair, IBV_WC_WR_FLUSH_ERR, -1);
    pair->receiver.answers.clear();
    return 0;
  }
  carry_out(*pair, change);
  if (pair->may_send()) rnic_.queue(*pair);
  return 0;
}

int DeviceCallsHandler::query_qp(uint32_t client, const DeviceRequest& request, CallResult& out) {
  const QueuePair* const pair = own(objects_.queue_pairs, request.handle, client);
  if (pair == nullptr) return EINVAL;
  out.reply.attributes = pair->attributes;
  out.reply.sizes = pair->sizes;
  return 0;
}

int DeviceCallsHandler::destroy_qp(uint32_t client, const DeviceRequest& request) {
  QueuePair* const pair = own(objects_.queue_pairs, request.handle, client);
  if (pair == nullptr) return EINVAL;
  rnic_.forget(*pair);
  return 0;
}

int DeviceCallsHandler::carry_out_connection_command(uint32_t client, const DeviceRequest& request, CallResult& out) {
  if (own(objects_.channels, request.handle, client) == nullptr) return EINVAL;
  return connection_calls_.carry_out(client, request, static_cast<uint8_t>(port_.active_mtu), out.reply);
}

int DeviceCallsHandler::read_file(const DeviceRequest& request, CallResult& out) const {
  if (request.command_bytes > kCommandBytes) return EINVAL;
  const std::string_view path{reinterpret_cast<const char*>(request.command), request.command_bytes};
  const RnicGround& ground = rnic_.ground();
  const auto text = device_file(path, {.port = port_, .rnic = ground.counters, .passed = ground.port.passed()});
  if (!text || text->size() > kCommandBytes) return ENOENT;
  std::ranges::copy(*text, out.reply.response);
  out.reply.response_bytes = static_cast<uint32_t>(text->size());
  return 0;
}

}  // namespace softspine::testbeds
