// SPDX-License-Identifier: Apache-2.0
#include "dataplane/dpdk/driver_search.hpp"

#include <dlfcn.h>

#include <string>
#include <string_view>

namespace {

constexpr std::string_view kLayer = "librte_eal.so";
constexpr std::string_view kRings = "librte_mempool_ring.so";

thread_local bool is_search_off = false;

// The file of the environment layer; empty if it is part of this program.
std::string file_of_layer() {
  Dl_info info;
  void* const start = dlsym(RTLD_DEFAULT, "rte_eal_init");
  const bool is_known = start != nullptr && dladdr(start, &info) != 0 && info.dli_fname != nullptr;
  return is_known ? info.dli_fname : "";
}

// It lies beside the layer, and stays.
bool load_rings() {
  std::string file = file_of_layer();
  const size_t at = file.rfind(kLayer);
  if (at == std::string::npos) return false;
  file.replace(at, kLayer.size(), kRings);
  return dlopen(file.c_str(), RTLD_NOW) != nullptr;
}

}  // namespace

// Takes the C library's place for all that this program is linked with.
extern "C" [[gnu::visibility("default")]] void* dlopen(const char* file, int mode) noexcept {
  using Open = void* (*)(const char*, int);
  static const auto open = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  const bool asks = is_search_off && file != nullptr && (mode & RTLD_NOLOAD) != 0;
  if (asks && std::string_view{file}.starts_with(kLayer)) return nullptr;
  return open(file, mode);
}

namespace softspine::dataplane {

NoDriverSearch::NoDriverSearch() {
  is_search_off = load_rings();
}

NoDriverSearch::~NoDriverSearch() {
  is_search_off = false;
}

}  // namespace softspine::dataplane
