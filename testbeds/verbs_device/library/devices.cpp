// SPDX-License-Identifier: Apache-2.0
// The list of devices, opening one, and what is asked of it.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "testbeds/verbs_device/library/device_socket.hpp"
#include "testbeds/verbs_device/library/file_calls.hpp"
#include "testbeds/verbs_device/library/ours.hpp"

using namespace softspine::testbeds;

namespace {

struct Devices {
  ibv_device each[kDeviceLimit];
  Devices() : each{} {
    for (uint32_t number = 0; number < kDeviceLimit; ++number) fill(each[number], number);
  }
  static void fill(ibv_device& device, uint32_t number) {
    device.node_type = IBV_NODE_CA;
    device.transport_type = IBV_TRANSPORT_IB;
    std::snprintf(device.name, sizeof device.name, "%s%u", kDeviceName, number);
    std::snprintf(device.dev_name, sizeof device.dev_name, "uverbs%u", number);
    std::snprintf(device.dev_path, sizeof device.dev_path, "/sys/class/infiniband_verbs/uverbs%u", number);
    std::snprintf(device.ibdev_path, sizeof device.ibdev_path, "/sys/class/infiniband/%s", device.name);
  }
};
Devices devices;

uint32_t number_of(const ibv_device* device) {
  return static_cast<uint32_t>(device - devices.each);
}

uint64_t guid_of(const PortFacts& port) {
  uint8_t guid[8] = {static_cast<uint8_t>(port.mac[0] ^ 2),
                     port.mac[1],
                     port.mac[2],
                     0xff,
                     0xfe,
                     port.mac[3],
                     port.mac[4],
                     port.mac[5]};
  uint64_t value = 0;
  std::memcpy(&value, guid, sizeof value);
  return value;
}

// Widths and speeds whose product is nearest below the link's.
void put_speed(uint32_t mbps, ibv_port_attr& port) {
  struct Speed {
    uint32_t mbps;
    uint8_t width;  // 1: 1x, 2: 4x
    uint8_t speed;  // 1: 2.5, 4: 10, 32: 25, 64: 50, 128: 100 Gb/s a lane
  };
  static constexpr Speed kSpeeds[] = {{400'000, 2, 128}, {200'000, 2, 64}, {100'000, 2, 32},
                                      {40'000, 2, 4},    {25'000, 1, 32},  {10'000, 1, 4}};
  port.active_width = 1;
  port.active_speed = 1;
  for (const Speed& each : kSpeeds) {
    if (mbps < each.mbps) continue;
    port.active_width = each.width;
    port.active_speed = each.speed;
    return;
  }
}

int query_port_of(ibv_context* context, uint8_t number, ibv_port_attr* out, size_t bytes) {
  if (number != 1) return EINVAL;
  DeviceRequest request{};
  request.call = Call::kQueryPort;
  DeviceReply reply{};
  if (const int error = call(ours(context), request, reply); error != 0) return error;
  ibv_port_attr port{};
  port.state = static_cast<ibv_port_state>(reply.port.state);
  port.max_mtu = static_cast<ibv_mtu>(reply.port.largest_mtu);
  port.active_mtu = static_cast<ibv_mtu>(reply.port.active_mtu);
  port.gid_tbl_len = static_cast<int>(kGids);
  port.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
  port.max_msg_sz = 1U << 30;
  port.pkey_tbl_len = 1;
  port.max_vl_num = 1;
  port.phys_state = port.state == IBV_PORT_ACTIVE ? 5 : 3;
  port.link_layer = IBV_LINK_LAYER_ETHERNET;
  put_speed(reply.port.speed_mbps, port);
  std::memcpy(out, &port, bytes < sizeof port ? bytes : sizeof port);
  return 0;
}

ibv_device_attr attributes_of(const PortFacts& port) {
  ibv_device_attr out{};
  std::strcpy(out.fw_ver, SOFTSPINE_VERSION);
  out.node_guid = out.sys_image_guid = guid_of(port);
  out.max_mr_size = ~uint64_t{0};
  out.page_size_cap = 0xfffff000;
  out.vendor_id = 0xffffff;
  out.max_qp = static_cast<int>(kQueuePairLimit);
  out.max_qp_wr = static_cast<int>(kSlotLimit);
  out.device_cap_flags = IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_RC_RNR_NAK_GEN | IBV_DEVICE_SYS_IMAGE_GUID;
  out.max_sge = out.max_sge_rd = out.max_srq_sge = static_cast<int>(kPieceLimit);
  out.max_cq = static_cast<int>(kCompletionQueueLimit);
  out.max_cqe = static_cast<int>(kCompletionSlotLimit);
  out.max_mr = 1 << 20;
  out.max_pd = 32'768;
  out.max_qp_rd_atom = out.max_qp_init_rd_atom = static_cast<int>(kReadLimit);
  out.max_res_rd_atom = static_cast<int>(kReadLimit * kQueuePairLimit);
  out.atomic_cap = IBV_ATOMIC_HCA;
  out.max_ah = 1 << 20;
  out.max_srq = static_cast<int>(kSharedLimit);
  out.max_srq_wr = static_cast<int>(kSlotLimit);
  out.max_pkeys = 1;
  out.local_ca_ack_delay = 15;
  out.phys_port_cnt = 1;
  return out;
}

int query_device_of(ibv_context* context, const ibv_query_device_ex_input*, ibv_device_attr_ex* out, size_t bytes) {
  ibv_device_attr_ex attributes{};
  attributes.orig_attr = attributes_of(ours(context).port);
  attributes.phys_port_cnt_ex = 1;
  std::memcpy(out, &attributes, bytes < sizeof attributes ? bytes : sizeof attributes);
  return 0;
}

ibv_srq* create_extended_srq(ibv_context*, ibv_srq_init_attr_ex* wanted) {
  const bool is_basic = (wanted->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 || wanted->srq_type == IBV_SRQT_BASIC;
  if (!is_basic || (wanted->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0) return refuse(EOPNOTSUPP);
  return ibv_create_srq(wanted->pd, reinterpret_cast<ibv_srq_init_attr*>(wanted));
}

void fill(verbs_context& verbs, ibv_device* device) {
  verbs.query_port = query_port_of;
  verbs.query_device_ex = query_device_of;
  verbs.create_qp_ex = create_extended_qp;
  verbs.create_cq_ex = create_extended_cq;
  verbs.create_srq_ex = create_extended_srq;
  verbs.sz = sizeof verbs;
  ibv_context& context = verbs.context;
  context.device = device;
  context.ops.poll_cq = poll_completions;
  context.ops.req_notify_cq = ask_to_notify;
  context.ops.post_send = post_send;
  context.ops.post_recv = post_receive;
  context.ops.post_srq_recv = post_shared_receive;
  context.cmd_fd = -1;
  context.num_comp_vectors = 1;
  pthread_mutex_init(&context.mutex, nullptr);
  context.abi_compat = __VERBS_ABI_IS_EXTENDED;
}

}  // namespace

// Without the variable by which softspine names the devices there are none, and a machine's own are not seen.
SOFTSPINE_VERB ibv_device** ibv_get_device_list(int* count) {
  const uint32_t there = count_devices();
  if (count != nullptr) *count = static_cast<int>(there);
  auto** const list = static_cast<ibv_device**>(std::calloc(there + 1, sizeof(ibv_device*)));
  for (uint32_t number = 0; list != nullptr && number < there; ++number) list[number] = &devices.each[number];
  return list;
}

SOFTSPINE_VERB void ibv_free_device_list(ibv_device** list) {
  std::free(list);
}

SOFTSPINE_VERB const char* ibv_get_device_name(ibv_device* of) {
  return of->name;
}

SOFTSPINE_VERB int ibv_get_device_index(ibv_device* of) {
  return static_cast<int>(number_of(of));
}

SOFTSPINE_VERB __be64 ibv_get_device_guid(ibv_device* of) {
  OurContext* const context = connect_to_device(number_of(of));
  if (context == nullptr) return 0;
  const uint64_t guid = guid_of(context->port);
  ibv_close_device(&context->verbs.context);
  return guid;
}

SOFTSPINE_VERB ibv_context* ibv_open_device(ibv_device* of) {
  OurContext* const made = connect_to_device(number_of(of));
  if (made == nullptr) return nullptr;
  fill(made->verbs, of);
  return &made->verbs.context;
}

SOFTSPINE_VERB int ibv_close_device(ibv_context* context) {
  OurContext& own = ours(context);
  close(own.socket);
  close(context->async_fd);
  munmap(own.doorbells, sizeof(Doorbells));
  std::free(&own);
  return 0;
}

SOFTSPINE_VERB int ibv_query_device(ibv_context* context, ibv_device_attr* out) {
  *out = attributes_of(ours(context).port);
  return 0;
}

// The macro of this name in the header goes through verbs_context; programs of before have this one, and a shorter
// struct.
#undef ibv_query_port
SOFTSPINE_VERB int ibv_query_port(ibv_context* context, uint8_t number, _compat_ibv_port_attr* out) {
  constexpr size_t kOldBytes = offsetof(ibv_port_attr, port_cap_flags2);
  return query_port_of(context, number, reinterpret_cast<ibv_port_attr*>(out), kOldBytes);
}

SOFTSPINE_VERB int ibv_query_gid(ibv_context* context, uint8_t port, int index, ibv_gid* out) {
  if (port != 1 || index < 0 || index >= static_cast<int>(kGids)) {
    errno = EINVAL;
    return -1;
  }
  std::memcpy(out->raw, ours(context).port.gids[index], sizeof out->raw);
  return 0;
}

SOFTSPINE_VERB int _ibv_query_gid_ex(ibv_context* context, uint32_t port, uint32_t index, ibv_gid_entry* out,
                                     uint32_t flags, size_t bytes) {
  if (port != 1 || index >= kGids || flags != 0) return EINVAL;
  ibv_gid_entry entry{};
  std::memcpy(entry.gid.raw, ours(context).port.gids[index], sizeof entry.gid.raw);
  entry.gid_index = index;
  entry.port_num = port;
  entry.gid_type = IBV_GID_TYPE_ROCE_V2;
  std::memcpy(out, &entry, bytes < sizeof entry ? bytes : sizeof entry);
  return 0;
}

SOFTSPINE_VERB ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* out, size_t most, uint32_t flags,
                                            size_t bytes) {
  if (flags != 0 || most < kGids) return -EINVAL;
  for (uint32_t i = 0; i < kGids; ++i) {
    auto* const place = reinterpret_cast<uint8_t*>(out) + i * bytes;
    _ibv_query_gid_ex(context, 1, i, reinterpret_cast<ibv_gid_entry*>(place), 0, bytes);
  }
  return kGids;
}

// Of rdma-core's private interface: 1 is RoCE v2.
SOFTSPINE_VERB int ibv_query_gid_type(ibv_context*, uint8_t port, unsigned index, int* type) {
  if (port != 1 || index >= kGids) {
    errno = EINVAL;
    return -1;
  }
  *type = 1;
  return 0;
}

SOFTSPINE_VERB int ibv_query_pkey(ibv_context*, uint8_t port, int index, __be16* out) {
  if (port != 1 || index != 0) {
    errno = EINVAL;
    return -1;
  }
  *out = 0xffff;
  return 0;
}

SOFTSPINE_VERB int ibv_get_pkey_index(ibv_context*, uint8_t, __be16 key) {
  return key == 0xffff ? 0 : -1;
}

// Nothing is mounted: the device itself is asked, and nothing else is there. Without the line's end, as rdma-core has
// it.
SOFTSPINE_VERB int ibv_read_sysfs_file(const char* folder, const char* file, char* out, size_t bytes) {
  char path[512];
  char text[kCommandBytes + 1] = "4";
  std::snprintf(path, sizeof path, "%s/%s", folder, file);
  int length = 1;
  if (std::strcmp(file, "class/misc/rdma_cm/abi_version") != 0) length = device_text(path, text, sizeof text);
  if (length > 0 && text[length - 1] == '\n') --length;
  if (length < 0 || static_cast<size_t>(length) >= bytes) return -1;
  std::memcpy(out, text, static_cast<size_t>(length));
  out[length] = '\0';
  return length;
}

SOFTSPINE_VERB const char* ibv_get_sysfs_path() {
  return "/sys";
}
