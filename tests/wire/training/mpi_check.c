// SPDX-License-Identifier: Apache-2.0
// Runs MPI's collectives with each size, and looks at every byte of each result.
//
//   mpi_check ROUNDS COLLECTIVE|all SIZE…     sizes in bytes, of one rank's part
//
// Rank 0 prints a line for each: `all_reduce 4096 right 12.3 us`; `wrong` and where, if a byte is not what it must be, and
// `all right` at the end. Byte i of what rank r has in round k is part(r, k, i). Reductions are by exclusive or, so that
// their order does not matter.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;
static unsigned char *mine, *theirs;

static unsigned char part(int of, int round, size_t i) { return (unsigned char)(of * 89 + round * 151 + i * 7 + (i >> 8) * 13 + (i >> 16) * 29); }

static unsigned char reduced(int round, size_t i) {
  unsigned char total = 0;
  for (int r = 0; r < ranks; ++r) total ^= part(r, round, i);
  return total;
}

static unsigned char own(int round, size_t i) { return part(rank, round, i); }
// All ranks' buffers of `size` bytes, one after the other.
static size_t block;
static unsigned char everybodys(int round, size_t i) { return part((int)(i / block), round, i % block); }
static unsigned char reduced_block(int round, size_t i) { return reduced(round, (size_t)rank * block + i); }
static unsigned char from_each_to_me(int round, size_t i) { return part((int)(i / block), round, (size_t)rank * block + i % block); }
static unsigned char root_of(int round, size_t i) { return part(round % ranks, round, i); }
static unsigned char roots_block(int round, size_t i) { return part(round % ranks, round, (size_t)rank * block + i); }
static unsigned char neighbour(int round, size_t i) { return part((rank + ranks - 1) % ranks, round, i); }

typedef unsigned char Expected(int round, size_t i);

static void all_reduce(int n, int root) { (void)root; MPI_Allreduce(mine, theirs, n, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD); }
static void reduce_scatter(int n, int root) { (void)root; MPI_Reduce_scatter_block(mine, theirs, n, MPI_BYTE, MPI_BXOR, MPI_COMM_WORLD); }
static void all_gather(int n, int root) { (void)root; MPI_Allgather(mine, n, MPI_BYTE, theirs, n, MPI_BYTE, MPI_COMM_WORLD); }
static void all_to_all(int n, int root) { (void)root; MPI_Alltoall(mine, n, MPI_BYTE, theirs, n, MPI_BYTE, MPI_COMM_WORLD); }
static void broadcast(int n, int root) {
  if (rank == root) memcpy(theirs, mine, (size_t)n);
  MPI_Bcast(theirs, n, MPI_BYTE, root, MPI_COMM_WORLD);
}
static void reduce(int n, int root) { MPI_Reduce(mine, theirs, n, MPI_BYTE, MPI_BXOR, root, MPI_COMM_WORLD); }
static void gather(int n, int root) { MPI_Gather(mine, n, MPI_BYTE, theirs, n, MPI_BYTE, root, MPI_COMM_WORLD); }
static void scatter(int n, int root) { MPI_Scatter(mine, n, MPI_BYTE, theirs, n, MPI_BYTE, root, MPI_COMM_WORLD); }
static void send_receive(int n, int root) {
  (void)root;
  MPI_Sendrecv(mine, n, MPI_BYTE, (rank + 1) % ranks, 0, theirs, n, MPI_BYTE, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static const struct {
  const char *name;
  void (*run)(int n, int root);
  Expected *expected;
  int sends_to_each;     // the buffer that goes in has a part for each rank
  int receives_of_each;  // likewise
  int only_root;         // has a result
} kCollectives[] = {
    {"all_reduce", all_reduce, reduced, 0, 0, 0},
    {"reduce_scatter", reduce_scatter, reduced_block, 1, 0, 0},
    {"all_gather", all_gather, everybodys, 0, 1, 0},
    {"all_to_all", all_to_all, from_each_to_me, 1, 1, 0},
    {"broadcast", broadcast, root_of, 0, 0, 0},
    {"reduce", reduce, reduced, 0, 0, 1},
    {"gather", gather, everybodys, 0, 1, 1},
    {"scatter", scatter, roots_block, 1, 0, 0},
    {"send_receive", send_receive, neighbour, 0, 0, 0},
};

// Bytes that are wrong at all ranks; what this rank has wrong it says.
static long wrong_bytes(int which, int round, size_t n) {
  long wrong = 0, all = 0;
  for (size_t i = 0; i < n; ++i) {
    const unsigned char must = kCollectives[which].expected(round, i);
    if (theirs[i] == must) continue;
    if (wrong++ == 0) printf("rank %d: %s round %d: byte %zu is %d, not %d\n", rank, kCollectives[which].name, round, i, theirs[i], must);
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

static long run(int which, size_t size, int rounds) {
  double seconds = 0;
  long wrong = 0;
  block = size;
  const size_t in = size * (kCollectives[which].sends_to_each ? (size_t)ranks : 1);
  const size_t out = size * (kCollectives[which].receives_of_each ? (size_t)ranks : 1);
  for (int round = 0; round < rounds; ++round) {
    const int root = round % ranks;
    for (size_t i = 0; i < in; ++i) mine[i] = own(round, i);
    memset(theirs, 0xee, out);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    kCollectives[which].run((int)size, root);
    seconds += MPI_Wtime() - begin;
    wrong += wrong_bytes(which, round, kCollectives[which].only_root && rank != root ? 0 : out);
  }
  if (rank == 0) printf("%s %zu %s %.1f us\n", kCollectives[which].name, size, wrong == 0 ? "right" : "wrong", seconds / rounds * 1e6);
  fflush(stdout);
  return wrong;
}

int main(int count, char **words) {
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  size_t largest = 0;
  for (int i = 3; i < count; ++i) {
    const size_t size = strtoul(words[i], NULL, 10);
    largest = size > largest ? size : largest;
  }
  mine = malloc(largest * (size_t)ranks);
  theirs = malloc(largest * (size_t)ranks);
  long wrong = 0;
  for (int i = 3; i < count; ++i) {
    for (size_t which = 0; which < sizeof kCollectives / sizeof *kCollectives; ++which) {
      if (strcmp(words[2], "all") != 0 && strcmp(words[2], kCollectives[which].name) != 0) continue;
      wrong += run((int)which, strtoul(words[i], NULL, 10), atoi(words[1]));
    }
  }
  if (rank == 0) printf("%s\n", wrong == 0 ? "all right" : "WRONG");
  MPI_Finalize();
  return wrong != 0;
}
