// SPDX-License-Identifier: Apache-2.0
// Bytes on a guest's line: however they are cut, they are the same frames, which have the same bytes again, up to where
// they are none; and what a program is made of comes back from its own text.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "dataplane/units/check.hpp"
#include "testbeds/guest_line/line_frames.hpp"

using namespace softspine::testbeds;

namespace {

struct Heard {
  std::string again;  // the frames as we would have sent them
  bool is_broken = false;
};

Heard hear(std::string_view bytes, size_t piece) {
  Heard out;
  FrameReader reader;
  for (std::string_view rest = bytes; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size()))) {
    reader.add(rest.substr(0, piece));
    while (const auto frame = reader.next()) {
      SOFTSPINE_CHECK(frame->payload.size() <= kMaxPayloadBytes, frame->payload.size(), piece);
      append_frame(out.again, *frame);
      static_cast<void>(size_in(*frame));
      if (const auto terms = begin_in(*frame)) {
        std::string text;
        append_begin(text, frame->program, *terms);
        SOFTSPINE_CHECK(text.size() == kHeaderBytes + frame->payload.size(), text.size(), 0);
      }
      if (const auto words = words_in(frame->payload)) {
        SOFTSPINE_CHECK(words_text(*words) == frame->payload, words->command.size(), words->environment.size());
      }
      if (const auto number = number_in(*frame)) {
        std::string text;
        append_number(text, frame->kind, frame->stream, frame->program, *number);
        SOFTSPINE_CHECK(text.ends_with(frame->payload), *number, 0);
      }
    }
  }
  out.is_broken = reader.is_broken();
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes{reinterpret_cast<const char*>(data), size};
  const Heard whole = hear(bytes, std::max<size_t>(size, 1));
  SOFTSPINE_CHECK(bytes.starts_with(whole.again), size, whole.again.size());
  const Heard pieces = hear(bytes, size == 0 ? 1 : 1 + data[0] % 7);
  SOFTSPINE_CHECK(pieces.again == whole.again, pieces.again.size(), whole.again.size());
  SOFTSPINE_CHECK(pieces.is_broken == whole.is_broken, size, whole.is_broken ? 1 : 0);
  return 0;
}
