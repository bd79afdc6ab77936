// SPDX-License-Identifier: Apache-2.0
// Lines that softspine-verbs gets from its peer, whoever that is: a client's terms and its end, a server's end and its
// verdict. What is taken can be said again, and means the same; what is refused is a sentence that can be sent back.
#include <string>
#include <string_view>

#include "dataplane/units/check.hpp"
#include "tests/fuzz/fuzz_target.hpp"
#include "tools/verbs/terms.hpp"

using namespace softspine::tools;

namespace {

void check_sentence(const std::string& error) {
  SOFTSPINE_CHECK(!error.empty() && error.size() < 2 * kMaxSentenceBytes, error.size(), 0);
}

template <typename Read>
auto check(const Json& words, Read read) {
  const auto taken = read(words);
  if (!taken) {
    check_sentence(taken.error());
    return taken;
  }
  const std::string line = to_json(*taken).dump();
  const auto object = object_of(line);
  SOFTSPINE_CHECK(object.has_value(), line.size(), 0);
  const auto again = read(*object);
  SOFTSPINE_CHECK(again.has_value(), line.size(), 0);
  SOFTSPINE_CHECK(to_json(*again) == to_json(*taken), line.size(), 0);
  return taken;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const auto words = object_of(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!words) {  // what the peer called its error goes back to it
      check_sentence(words.error());
      const Json answer{{"error", words.error()}};
      SOFTSPINE_CHECK(!answer.dump().empty(), words.error().size(), 0);
      continue;
    }
    const auto terms = check(words->value("terms", Json{}), terms_from);
    if (terms) SOFTSPINE_CHECK(terms->buffer_bytes() <= kMaxBufferBytes, terms->buffer_bytes(), kMaxBufferBytes);
    const auto peer = check(words->value("end", Json{}), end_from);
    if (peer) SOFTSPINE_CHECK(!peer->queue_pairs.empty(), peer->queue_pairs.size(), kMaxQueuePairs);
    static_cast<void>(check(*words, verdict_from));
  }
  return 0;
}
