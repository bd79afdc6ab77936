/* SPDX-License-Identifier: Apache-2.0 */
/* One of two programs of which one does drawn operations at the other's memory, and knows what it must find there:
   checked_verbs FOLDER asks|answers SEED TIMEOUT RETRIES RNR_RETRIES RECEIVES. They meet by files of FOLDER, and
   end when it has a file `stop`. "asks" prints how many operations were right; or the status of the first error, and how many were flushed behind it.
   "answers" gives RECEIVES receives at a time, and says whether its memory is what the other one believes at the end. */
#include "verbs_pair.h"

enum {
  kWords = 8,                      /* of atomics, in front */
  kBytes = 1 << 18,                /* of each side's memory */
  kFirst = kWords * 8,             /* where writes and reads begin */
  kSendBytes = 3000,               /* of each send: three packets */
  kDepth = 8,
  kReceives = 32,                  /* at most */
  kSlotBytes = 40000,              /* longest write or read */
};

struct operation {
  enum ibv_wr_opcode opcode;
  uint32_t bytes;
  uint64_t expected; /* of an atomic: the word before */
};

static struct ibv_context* context;
static struct ibv_pd* pd;
static struct ibv_cq* cq;
static struct ibv_qp* qp;
static uint8_t* memory;
static uint8_t* believed; /* the other side's memory, as it must be */
static uint8_t* slots;    /* kReceives of kSlotBytes: what is sent, where it is read to, and what is received */
static uint8_t* read_expected;
static struct ibv_mr *memory_region, *slots_region;

static void await(const char* name, void* bytes, size_t count) {
  while (!find(name, bytes, count)) usleep(500);
}

static void open_all(void) {
  struct ibv_device** list = ibv_get_device_list(NULL);
  need(list != NULL && list[0] != NULL && (context = ibv_open_device(list[0])) != NULL, "device");
  need((pd = ibv_alloc_pd(context)) != NULL && (cq = ibv_create_cq(context, 512, NULL, NULL, 0)) != NULL, "cq");
  memory = calloc(1, kBytes);
  believed = calloc(1, kBytes);
  slots = calloc(kReceives, kSlotBytes);
  read_expected = calloc(kDepth, kSlotBytes);
  memory_region = ibv_reg_mr(pd, memory, kBytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                                     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  slots_region = ibv_reg_mr(pd, slots, (size_t)kReceives * kSlotBytes, IBV_ACCESS_LOCAL_WRITE);
  struct ibv_qp_init_attr wanted = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = kDepth, .max_recv_wr = kReceives, .max_send_sge = 1, .max_recv_sge = 1}};
  need((qp = ibv_create_qp(pd, &wanted)) != NULL && memory_region != NULL && slots_region != NULL, "queue pair");
}

static uint8_t send_byte(uint64_t number, uint32_t place) {
  return (uint8_t)(number * 131 + place * 7 + (place >> 8));
}

/* Drawn, posted, and done at `believed`: what the other side will have carried out when it ends, all in this order.
   Behind a read or an atomic each waits for it (a fence), or it could change what is still being read. */
static void post_one(uint64_t number, uint64_t sends, struct operation* out, const struct side* peer) {
  static const enum ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_SEND,
                                               IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_CMP_AND_SWP};
  const uint32_t slot = (uint32_t)(number % kDepth);
  uint8_t* const local = slots + (size_t)slot * kSlotBytes;
  out->opcode = opcodes[rand() % 6];
  out->bytes = 1 + (uint32_t)rand() % (rand() % 4 == 0 ? kSlotBytes : 2000);
  struct ibv_sge piece = {(uintptr_t)local, out->bytes, slots_region->lkey};
  struct ibv_send_wr work = {.wr_id = slot, .sg_list = &piece, .num_sge = 1, .opcode = out->opcode,
                             .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE};
  const uint32_t place = kFirst + (uint32_t)rand() % (kBytes - kFirst - kSlotBytes);
  if (out->opcode == IBV_WR_SEND) {
    piece.length = out->bytes = kSendBytes;
    for (uint32_t i = 0; i < kSendBytes; ++i) local[i] = send_byte(sends, i);
  } else if (out->opcode == IBV_WR_RDMA_WRITE || out->opcode == IBV_WR_RDMA_READ) {
    work.wr.rdma.remote_addr = peer->address + place;
    work.wr.rdma.rkey = peer->key;
    if (out->opcode == IBV_WR_RDMA_WRITE) {
      for (uint32_t i = 0; i < out->bytes; ++i) local[i] = (uint8_t)rand();
      memcpy(believed + place, local, out->bytes);
    } else {
      memcpy(read_expected + (size_t)slot * kSlotBytes, believed + place, out->bytes);
    }
  } else {
    uint64_t* const word = (uint64_t*)(void*)believed + rand() % kWords;
    piece.length = out->bytes = 8;
    out->expected = *word;
    work.wr.atomic.remote_addr = peer->address + (uint64_t)((uint8_t*)word - believed);
    work.wr.atomic.rkey = peer->key;
    work.wr.atomic.compare_add = (uint64_t)rand();
    work.wr.atomic.swap = (uint64_t)rand();
    if (out->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
      *word += work.wr.atomic.compare_add;
    } else {
      if (rand() % 2) work.wr.atomic.compare_add = *word;
      if (*word == work.wr.atomic.compare_add) *word = work.wr.atomic.swap;
    }
  }
  struct ibv_send_wr* bad;
  need(!ibv_post_send(qp, &work, &bad), "post");
}

static void check(uint64_t number, const struct operation* it) {
  const uint32_t slot = (uint32_t)(number % kDepth);
  const uint8_t* const local = slots + (size_t)slot * kSlotBytes;
  if (it->opcode == IBV_WR_RDMA_READ) {
    need(memcmp(local, read_expected + (size_t)slot * kSlotBytes, it->bytes) == 0, "a read's bytes");
  } else if (it->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || it->opcode == IBV_WR_ATOMIC_CMP_AND_SWP) {
    need(memcmp(local, &it->expected, 8) == 0, "an atomic's word");
  }
}

static int ask(const struct side* peer) {
  struct operation all[kDepth];
  uint64_t posted = 0, done = 0, sends = 0, flushed = 0;
  enum ibv_wc_status error = IBV_WC_SUCCESS;
  for (int stops = 0; done < posted || (error == IBV_WC_SUCCESS && !stops);) {
    while (error == IBV_WC_SUCCESS && !stops && posted < done + kDepth) {
      struct operation* const next = &all[posted % kDepth];
      post_one(posted++, sends, next, peer);
      sends += next->opcode == IBV_WR_SEND;
    }
    struct ibv_wc end;
    if (ibv_poll_cq(cq, 1, &end) != 1) continue;
    need(end.wr_id == done % kDepth, "the order of completions");
    if (end.status == IBV_WC_SUCCESS) {
      need(error == IBV_WC_SUCCESS, "a completion behind an error");
      check(done, &all[done % kDepth]);
      if (done % 64 == 0) stops = stops || find("stop", NULL, 0);
    } else if (error == IBV_WC_SUCCESS) {
      error = end.status;
    } else {
      need(end.status == IBV_WC_WR_FLUSH_ERR, "flushing");
      ++flushed;
    }
    ++done;
  }
  if (error == IBV_WC_SUCCESS) {
    leave("believed", believed, kBytes);
    leave("sends", &sends, sizeof sends);
    printf("%llu right\n", (unsigned long long)done);
  } else {
    struct ibv_qp_attr now;
    struct ibv_qp_init_attr made;
    need(!ibv_query_qp(qp, &now, IBV_QP_STATE, &made) && now.qp_state == IBV_QPS_ERR, "the state of an error");
    printf("%s, %llu flushed\n", ibv_wc_status_str(error), (unsigned long long)flushed);
    leave("failed", "", 1);
  }
  return 0;
}

static void give(uint32_t slot) {
  struct ibv_sge piece = {(uintptr_t)(slots + (size_t)slot * kSlotBytes), kSlotBytes, slots_region->lkey};
  struct ibv_recv_wr work = {.wr_id = slot, .sg_list = &piece, .num_sge = 1};
  struct ibv_recv_wr* bad;
  need(!ibv_post_recv(qp, &work, &bad), "receive");
}

static int answer(void) {
  uint64_t received = 0, sends = 0;
  char ended;
  for (;;) {
    struct ibv_wc end;
    if (ibv_poll_cq(cq, 1, &end) == 1) {
      if (end.status == IBV_WC_WR_FLUSH_ERR) continue;
      need(end.status == IBV_WC_SUCCESS && end.byte_len == kSendBytes, ibv_wc_status_str(end.status));
      const uint8_t* const got = slots + (size_t)end.wr_id * kSlotBytes;
      for (uint32_t i = 0; i < kSendBytes; ++i) need(got[i] == send_byte(received, i), "a send's bytes");
      ++received;
      give((uint32_t)end.wr_id);
      continue;
    }
    if (find("failed", &ended, 1)) {
      printf("the other has failed\n");
      return 0;
    }
    if (find("sends", &sends, sizeof sends) && received == sends) break;
    usleep(200);
  }
  need(find("believed", believed, kBytes) && memcmp(believed, memory, kBytes) == 0, "the memory");
  printf("the memory is right, and %llu sends\n", (unsigned long long)received);
  return 0;
}

int main(int count, char** words) {
  need(count == 8, "arguments");
  folder = words[1];
  const int asks = strcmp(words[2], "asks") == 0;
  srand((unsigned)atoi(words[3]));
  open_all();
  struct side ours = {qp->qp_num, memory_region->rkey, (uintptr_t)memory, {{0}}}, theirs;
  need(!ibv_query_gid(context, 1, 0, &ours.gid), "gid");
  struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  need(!ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
  for (int i = 0; !asks && i < atoi(words[7]); ++i) give((uint32_t)i);
  leave(words[2], &ours, sizeof ours);
  await(asks ? "answers" : "asks", &theirs, sizeof theirs);
  /* RNR: 0.64 ms. Priority 3, which is lossless, and ECT(0). */
  const struct terms terms = {(uint8_t)atoi(words[4]), (uint8_t)atoi(words[5]), (uint8_t)atoi(words[6]), 12, 3 << 2 | 2};
  connect_to(qp, &theirs, &terms);
  char ready = 1;
  leave(asks ? "asks.ready" : "answers.ready", &ready, 1);
  await(asks ? "answers.ready" : "asks.ready", &ready, 1);
  return asks ? ask(&theirs) : answer();
}
