// SPDX-License-Identifier: Apache-2.0
// What a gzipped stream holds. protobuf's own takes the end of its input for the end of what was packed, and so does
// not see a file that is cut off.
#pragma once

#include <google/protobuf/io/zero_copy_stream.h>
#include <zlib.h>

#include <array>
#include <cstdint>

namespace softspine::control {

class GunzipStream final : public google::protobuf::io::ZeroCopyInputStream {
 public:
  // `packed` outlives it.
  explicit GunzipStream(google::protobuf::io::ZeroCopyInputStream& packed) : packed_(packed) {
    constexpr int kGzip = 15 + 16;  // the largest window, with gzip's head
    is_good_ = inflateInit2(&state_, kGzip) == Z_OK;
  }
  ~GunzipStream() override { inflateEnd(&state_); }
  GunzipStream(const GunzipStream&) = delete;
  GunzipStream& operator=(const GunzipStream&) = delete;

  // At the end: whether it was one.
  bool is_good() const { return is_good_ && is_over_; }

  bool Next(const void** data, int* size) override {
    if (backed_up_ == 0 && !unpack()) return false;
    const int begin = backed_up_ == 0 ? 0 : unpacked_ - backed_up_;
    *data = bytes_.data() + begin;
    *size = unpacked_ - begin;
    backed_up_ = 0;
    return true;
  }
  void BackUp(int count) override { backed_up_ = count; }
  bool Skip(int count) override {
    const void* data = nullptr;
    for (int size = 0; count > 0; count -= size) {
      if (!Next(&data, &size)) return false;
      if (size > count) BackUp(size - count);
    }
    return true;
  }
  int64_t ByteCount() const override { return count_ - backed_up_; }

 private:
  bool take_input() {
    const void* data = nullptr;
    int size = 0;
    while (packed_.Next(&data, &size)) {
      if (size == 0) continue;
      state_.next_in = static_cast<Bytef*>(const_cast<void*>(data));
      state_.avail_in = static_cast<uInt>(size);
      return true;
    }
    return false;
  }

  // False: nothing more.
  bool unpack() {
    state_.next_out = bytes_.data();
    state_.avail_out = static_cast<uInt>(bytes_.size());
    while (is_good_ && !is_over_ && state_.avail_out == bytes_.size()) {
      is_good_ = state_.avail_in > 0 || take_input();
      if (!is_good_) break;
      const int result = inflate(&state_, Z_NO_FLUSH);
      is_good_ = result == Z_OK || result == Z_STREAM_END;
      if (result != Z_STREAM_END) continue;
      // Files of gzip may stand one behind the other.
      is_over_ = state_.avail_in == 0 && !take_input();
      if (!is_over_) is_good_ = inflateReset(&state_) == Z_OK;
    }
    unpacked_ = static_cast<int>(bytes_.size() - state_.avail_out);
    count_ += unpacked_;
    return unpacked_ > 0;
  }

  google::protobuf::io::ZeroCopyInputStream& packed_;
  z_stream state_{};
  std::array<Bytef, 64U << 10U> bytes_{};
  int unpacked_ = 0;
  int backed_up_ = 0;
  int64_t count_ = 0;
  bool is_good_ = false;
  bool is_over_ = false;
};

}  // namespace softspine::control
