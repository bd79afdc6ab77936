/* SPDX-License-Identifier: Apache-2.0 */
/* One of two programs that write, read, add and send to each other over a connection until one of them is killed:
   killed_verbs FOLDER OWN PEER SEED. They meet by files of FOLDER. Who is left prints the status of its first
   completion that is an error. "alone": the file `alone` says that its peer was killed before they met. */
#include "verbs_pair.h"

enum { kBytes = 1 << 16, kReceives = 64 };

static void meet(const char* own, const char* peer, const struct side* ours, struct side* theirs) {
  leave(own, ours, sizeof *ours);
  while (!find(peer, theirs, sizeof *theirs)) {
    if (find("alone", NULL, 0)) {
      puts("alone");
      exit(0);
    }
    usleep(500);
  }
}

static void post_one(struct ibv_qp* qp, char* memory, uint32_t key, const struct side* peer) {
  static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND, IBV_WR_ATOMIC_FETCH_AND_ADD};
  const enum ibv_wr_opcode opcode = opcodes[rand() % 4];
  const uint32_t bytes = opcode == IBV_WR_ATOMIC_FETCH_AND_ADD ? 8 : (uint32_t)(rand() % (kBytes / 2));
  struct ibv_sge piece = {(uintptr_t)memory, bytes, key};
  struct ibv_send_wr work = {.wr_id = 1, .sg_list = &piece, .num_sge = 1, .opcode = opcode, .send_flags = IBV_SEND_SIGNALED};
  struct ibv_send_wr* bad;
  if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    work.wr.atomic.remote_addr = peer->address;
    work.wr.atomic.rkey = peer->key;
    work.wr.atomic.compare_add = 1;
  } else {
    work.wr.rdma.remote_addr = peer->address;
    work.wr.rdma.rkey = peer->key;
  }
  need(!ibv_post_send(qp, &work, &bad), "post");
}

static void post_receive(struct ibv_qp* qp, char* memory, uint32_t key) {
  struct ibv_sge piece = {(uintptr_t)memory, kBytes, key};
  struct ibv_recv_wr work = {.wr_id = 2, .sg_list = &piece, .num_sge = 1};
  struct ibv_recv_wr* bad;
  need(!ibv_post_recv(qp, &work, &bad), "receive");
}

int main(int count, char** words) {
  need(count == 5, "arguments");
  folder = words[1];
  srand((unsigned)atoi(words[4]));
  struct ibv_device** list = ibv_get_device_list(NULL);
  need(list != NULL && list[0] != NULL, "device");
  struct ibv_context* context = ibv_open_device(list[0]);
  need(context != NULL, "open");
  struct ibv_pd* pd = ibv_alloc_pd(context);
  struct ibv_cq* cq = ibv_create_cq(context, 256, NULL, NULL, 0);
  char* memory = calloc(1, kBytes);
  struct ibv_mr* region = ibv_reg_mr(pd, memory, kBytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                                              IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  struct ibv_qp_init_attr wanted = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = 8, .max_recv_wr = kReceives, .max_send_sge = 1, .max_recv_sge = 1}};
  struct ibv_qp* qp = ibv_create_qp(pd, &wanted);
  need(qp != NULL && region != NULL, "queue pair");
  struct side ours = {qp->qp_num, region->rkey, (uintptr_t)memory, {{0}}}, theirs;
  need(!ibv_query_gid(context, 1, 0, &ours.gid), "gid");
  for (int i = 0; i < kReceives; ++i) {
    struct ibv_qp_attr attributes = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    if (i == 0) need(!ibv_modify_qp(qp, &attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
    post_receive(qp, memory, region->lkey);
  }
  meet(words[2], words[3], &ours, &theirs);
  const struct terms terms = {.timeout = 11 /* 8 ms */, .retries = 7, .rnr_retries = 7, .rnr_timer = 1};
  connect_to(qp, &theirs, &terms);
  for (int under_way = 0;;) {
    for (; under_way < 4; ++under_way) post_one(qp, memory, region->lkey, &theirs);
    struct ibv_wc done;
    if (ibv_poll_cq(cq, 1, &done) != 1) continue;
    if (done.status != IBV_WC_SUCCESS) {
      printf("%s\n", ibv_wc_status_str(done.status));
      return 0;
    }
    if (done.opcode & IBV_WC_RECV) {
      post_receive(qp, memory, region->lkey);
    } else {
      --under_way;
    }
  }
}
