// SPDX-License-Identifier: Apache-2.0
// Preloaded into guests' commands: gettimeofday() out of the TSC.
// perftest finds the cycles of a microsecond by fitting rdtsc to gettimeofday(), and reports 0 for everything when the
// fit is bad. In user-mode Linux that call is a system call by way of ptrace, and a preempted guest spoils the fit.
#include <stdint.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
#include <x86intrin.h>

static double cycles_per_usec;
static uint64_t first_tsc;
static uint64_t first_usec;

__attribute__((constructor)) static void begin(void) {
  const char* mhz = getenv("CPU_MHZ");
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  first_tsc = __rdtsc();
  first_usec = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
  cycles_per_usec = mhz ? atof(mhz) : 0;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  (void)zone;
  if (cycles_per_usec > 0) {
    const uint64_t usec = first_usec + (uint64_t)((double)(__rdtsc() - first_tsc) / cycles_per_usec);
    time->tv_sec = (time_t)(usec / 1000000);
    time->tv_usec = (suseconds_t)(usec % 1000000);
    return 0;
  }
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}
