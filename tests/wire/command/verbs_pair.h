/* SPDX-License-Identifier: Apache-2.0 */
/* Two programs with an RDMA device each, which meet by files of a folder. */
#include <infiniband/verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct side {
  uint32_t qp, key;
  uint64_t address;
  union ibv_gid gid;
};

struct terms {
  uint8_t timeout, retries, rnr_retries, rnr_timer, traffic_class;
};

static const char* folder;

static void need(int holds, const char* what) {
  if (holds) return;
  printf("%s failed\n", what);
  exit(1);
}

/* A file that is there is whole. */
static void leave(const char* name, const void* bytes, size_t count) {
  char path[512], whole[512];
  snprintf(path, sizeof path, "%s/%s.new", folder, name);
  snprintf(whole, sizeof whole, "%s/%s", folder, name);
  FILE* out = fopen(path, "w");
  need(out != NULL && fwrite(bytes, 1, count, out) == count && fclose(out) == 0 && rename(path, whole) == 0, name);
}

/* Whether the file is there, and its bytes. */
static int find(const char* name, void* bytes, size_t count) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE* in = fopen(path, "r");
  if (in == NULL) return 0;
  need(fread(bytes, 1, count, in) == count, name);
  fclose(in);
  return 1;
}

static void connect_to(struct ibv_qp* qp, const struct side* peer, const struct terms* terms) {
  struct ibv_qp_attr to = {.qp_state = IBV_QPS_INIT, .port_num = 1,
                           .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC};
  need(!ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), "INIT");
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = IBV_MTU_1024;
  to.dest_qp_num = peer->qp;
  to.max_dest_rd_atomic = 4;
  to.min_rnr_timer = terms->rnr_timer;
  to.ah_attr.is_global = 1;
  to.ah_attr.port_num = 1;
  to.ah_attr.grh.dgid = peer->gid;
  to.ah_attr.grh.hop_limit = 64;
  to.ah_attr.grh.traffic_class = terms->traffic_class;
  need(!ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER), "RTR");
  to.qp_state = IBV_QPS_RTS;
  to.timeout = terms->timeout;
  to.retry_cnt = terms->retries;
  to.rnr_retry = terms->rnr_retries;
  to.max_rd_atomic = 4;
  need(!ibv_modify_qp(qp, &to, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                   IBV_QP_MAX_QP_RD_ATOMIC), "RTS");
}
