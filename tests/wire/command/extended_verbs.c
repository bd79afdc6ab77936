// SPDX-License-Identifier: Apache-2.0
// Posts by ibv_wr_… and polls by ibv_start_poll …, and sends datagrams, between the devices of h1 and h2 in one process,
// and looks at every byte. The environment names h1's device; h2's has the same place.
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEED(what) do { if (!(what)) { printf("line %d: %s\n", __LINE__, #what); exit(1); } } while (0)
enum { BYTES = 10000, SLOTS = 8 };

struct side {
  struct ibv_context *context;
  struct ibv_pd *pd;
  struct ibv_mr *mr;
  struct ibv_cq_ex *cq;
  struct ibv_qp *qp;
  union ibv_gid gid;
  unsigned char bytes[BYTES];
};

static void make(struct side *s) {
  struct ibv_device **all = ibv_get_device_list(NULL);
  NEED(s->context = ibv_open_device(all[0]));
  ibv_free_device_list(all);
  NEED(s->pd = ibv_alloc_pd(s->context));
  NEED(s->mr = ibv_reg_mr(s->pd, s->bytes, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC));
  struct ibv_cq_init_attr_ex cq = {.cqe = SLOTS, .wc_flags = IBV_WC_STANDARD_FLAGS};
  NEED(s->cq = ibv_create_cq_ex(s->context, &cq));
  struct ibv_cq_init_attr_ex stamps = {.cqe = SLOTS, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP};
  NEED(ibv_create_cq_ex(s->context, &stamps) == NULL);
  struct ibv_qp_init_attr_ex qp = {.send_cq = ibv_cq_ex_to_cq(s->cq), .recv_cq = ibv_cq_ex_to_cq(s->cq),
    .cap = {SLOTS, SLOTS, 2, 2, 64}, .qp_type = IBV_QPT_RC, .pd = s->pd,
    .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, .send_ops_flags = IBV_QP_EX_WITH_BIND_MW};
  NEED(ibv_create_qp_ex(s->context, &qp) == NULL);
  qp.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
  NEED(s->qp = ibv_create_qp_ex(s->context, &qp));
  NEED(ibv_qp_to_qp_ex(s->qp));
  NEED(ibv_query_gid(s->context, 1, 0, &s->gid) == 0);
}

static void connect_to(struct side *s, const struct side *peer) {
  struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC};
  NEED(ibv_modify_qp(s->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0);
  struct ibv_qp_attr r = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = peer->qp->qp_num, .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
    .ah_attr = {.is_global = 1, .port_num = 1, .grh = {.dgid = peer->gid, .hop_limit = 64}}};
  NEED(ibv_modify_qp(s->qp, &r, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0);
  struct ibv_qp_attr t = {.qp_state = IBV_QPS_RTS, .timeout = 17, .retry_cnt = 7, .rnr_retry = 7, .max_rd_atomic = 1};
  NEED(ibv_modify_qp(s->qp, &t, IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC) == 0);
}

// Waits for `count` completions, whose identifiers come in order.
static void await(struct side *s, unsigned count, unsigned first) {
  struct ibv_poll_cq_attr none = {0};
  while (count != 0) {
    if (ibv_start_poll(s->cq, &none) != 0) continue;
    do {
      NEED(s->cq->status == IBV_WC_SUCCESS && s->cq->wr_id == first++);
      NEED(ibv_wc_read_qp_num(s->cq) == s->qp->qp_num);
      --count;
    } while (count != 0 && ibv_next_poll(s->cq) == 0);
    ibv_end_poll(s->cq);
  }
}

static struct ibv_qp *datagram_pair(struct side *s, struct ibv_cq *cq) {
  struct ibv_qp_init_attr wanted = {.send_cq = cq, .recv_cq = cq, .cap = {SLOTS, SLOTS, 1, 1, 64}, .qp_type = IBV_QPT_UD};
  struct ibv_qp *qp;
  NEED(qp = ibv_create_qp(s->pd, &wanted));
  NEED(wanted.cap.max_inline_data == 256);
  struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT, .port_num = 1, .qkey = 5};
  NEED(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) == 0);
  a.qp_state = IBV_QPS_RTR;
  NEED(ibv_modify_qp(qp, &a, IBV_QP_STATE) == 0);
  a.qp_state = IBV_QPS_RTS;
  NEED(ibv_modify_qp(qp, &a, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0);
  return qp;
}

// As UCX sends: more inline than was asked for, from memory that is used again at once; it finds its peer's address by
// the service level. Who is to hear of any completion hears of one that is not solicited, though solicited ones were
// asked for since.
static void datagrams(struct side *from, struct side *to) {
  struct ibv_comp_channel *channel = ibv_create_comp_channel(to->context);
  struct ibv_cq *sent = ibv_create_cq(from->context, SLOTS, NULL, NULL, 0), *got = ibv_create_cq(to->context, SLOTS, NULL, channel, 0);
  NEED(channel && sent && got);
  struct ibv_qp *a = datagram_pair(from, sent), *b = datagram_pair(to, got);
  struct ibv_ah_attr address = {.is_global = 1, .port_num = 1, .grh = {.dgid = to->gid, .hop_limit = 64}};
  struct ibv_ah *ah = ibv_create_ah(from->pd, &address);
  struct ibv_sge into = {(uintptr_t)to->bytes, 1000, to->mr->lkey}, of = {(uintptr_t)from->bytes, 200, 0};
  struct ibv_recv_wr receive = {.sg_list = &into, .num_sge = 1}, *no_receive;
  struct ibv_send_wr send = {.sg_list = &of, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE,
    .wr.ud = {.ah = ah, .remote_qpn = b->qp_num, .remote_qkey = 5}}, *no_send;
  NEED(ibv_post_recv(b, &receive, &no_receive) == 0);
  NEED(ibv_req_notify_cq(got, 0) == 0 && ibv_req_notify_cq(got, 1) == 0);
  memset(from->bytes, 1, 200);
  NEED(ibv_post_send(a, &send, &no_send) == 0);
  memset(from->bytes, 2, 200);
  struct pollfd event = {.fd = channel->fd, .events = POLLIN};
  NEED(poll(&event, 1, 20000) == 1);
  struct ibv_cq *of_whom;
  void *context;
  NEED(ibv_get_cq_event(channel, &of_whom, &context) == 0 && of_whom == got);
  ibv_ack_cq_events(got, 1);
  struct ibv_wc wc;
  NEED(ibv_poll_cq(got, 1, &wc) == 1 && wc.status == IBV_WC_SUCCESS && wc.byte_len == 240 && wc.wc_flags == IBV_WC_GRH && wc.sl == 2);
  for (int i = 0; i < 200; ++i) NEED(to->bytes[40 + i] == 1);
}

int main(void) {
  static struct side from, to;
  make(&from);
  char socket[256];
  snprintf(socket, sizeof socket, "%s", getenv("SOFTSPINE_VERBS_DEVICE"));
  socket[strlen(socket) - 1] = '2';
  setenv("SOFTSPINE_VERBS_DEVICE", socket, 1);
  make(&to);
  connect_to(&from, &to);
  connect_to(&to, &from);
  for (int i = 0; i < BYTES; ++i) from.bytes[i] = (unsigned char)(i * 7 + (i >> 8));
  struct ibv_qp_ex *qp = ibv_qp_to_qp_ex(from.qp);
  struct ibv_sge place = {(uintptr_t)to.bytes + 9000, 1000, to.mr->lkey};
  struct ibv_recv_wr receive = {.wr_id = 1, .sg_list = &place, .num_sge = 1}, *bad;
  NEED(ibv_post_recv(to.qp, &receive, &bad) == 0);
  // Nothing of what is aborted, or too much, is sent.
  ibv_wr_start(qp);
  qp->wr_id = 99, qp->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_rdma_write(qp, to.mr->rkey, (uintptr_t)to.bytes);
  ibv_wr_set_sge(qp, from.mr->lkey, (uintptr_t)from.bytes, 10);
  ibv_wr_abort(qp);
  ibv_wr_start(qp);
  for (int i = 0; i <= SLOTS; ++i) {
    ibv_wr_rdma_write(qp, to.mr->rkey, (uintptr_t)to.bytes);
    ibv_wr_set_sge(qp, from.mr->lkey, (uintptr_t)from.bytes, 10);
  }
  NEED(ibv_wr_complete(qp) != 0);
  ibv_wr_start(qp);
  qp->wr_id = 1;
  ibv_wr_rdma_write(qp, to.mr->rkey, (uintptr_t)to.bytes);
  struct ibv_sge two[2] = {{(uintptr_t)from.bytes, 4000, from.mr->lkey}, {(uintptr_t)from.bytes + 4000, 4936, from.mr->lkey}};
  ibv_wr_set_sge_list(qp, 2, two);
  qp->wr_id = 2;
  ibv_wr_rdma_write(qp, to.mr->rkey, (uintptr_t)to.bytes + 8936);
  ibv_wr_set_inline_data(qp, from.bytes + 8936, 64);
  qp->wr_id = 3;
  ibv_wr_send_imm(qp, htobe32(4711));
  ibv_wr_set_sge(qp, from.mr->lkey, (uintptr_t)from.bytes + 9000, 1000);
  NEED(ibv_wr_complete(qp) == 0);
  await(&from, 3, 1);
  struct ibv_poll_cq_attr none = {0};
  while (ibv_start_poll(to.cq, &none) != 0) {}
  NEED(to.cq->wr_id == 1 && ibv_wc_read_opcode(to.cq) == IBV_WC_RECV && ibv_wc_read_byte_len(to.cq) == 1000);
  NEED(be32toh(ibv_wc_read_imm_data(to.cq)) == 4711 && ibv_wc_read_wc_flags(to.cq) == IBV_WC_WITH_IMM);
  ibv_end_poll(to.cq);
  NEED(memcmp(from.bytes, to.bytes, BYTES) == 0);
  ibv_wr_start(qp);
  qp->wr_id = 4;
  ibv_wr_atomic_fetch_add(qp, to.mr->rkey, ((uintptr_t)to.bytes + 15) / 8 * 8, 5);
  ibv_wr_set_sge(qp, from.mr->lkey, (uintptr_t)from.bytes, 8);
  qp->wr_id = 5;
  ibv_wr_rdma_read(qp, to.mr->rkey, (uintptr_t)to.bytes);
  ibv_wr_set_sge(qp, from.mr->lkey, (uintptr_t)from.bytes + 100, 5000);
  NEED(ibv_wr_complete(qp) == 0);
  await(&from, 2, 4);
  NEED(memcmp(from.bytes + 100, to.bytes, 5000) == 0);
  datagrams(&from, &to);
  printf("all right\n");
  return 0;
}
