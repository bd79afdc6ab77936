// SPDX-License-Identifier: Apache-2.0
// A disk that does not keep up: a pipe that nobody reads.
#include "control/capture/capture_writer.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <semaphore>

namespace softspine::control {
namespace {

constexpr uint32_t kMoreThanAPipeHolds = 1 << 20;

CaptureWriter::Batch big_batch() {
  CaptureBuffer buffer;
  const std::vector<uint8_t> frame(kMoreThanAPipeHolds, 0xAB);
  buffer.add(CaptureRecord{.captured_bytes = kMoreThanAPipeHolds}, frame.data(), nullptr);
  CaptureWriter::Batch batch{.buffers = {}, .floor = dataplane::Instant::at_ps(1)};
  batch.buffers.push_back(std::move(buffer));
  return batch;
}

size_t drained(int end) {
  size_t total = 0;
  std::array<char, 65536> chunk{};
  for (ssize_t n = 0; (n = ::read(end, chunk.data(), chunk.size())) > 0;) total += static_cast<size_t>(n);
  return total;
}

TEST(CaptureWriter, RefusesWhenBehindAndCallsBackOnceThereIsRoom) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::binary_semaphore room{0};
  CaptureWriter writer{CaptureFiles{ends[1]}, {}, 0, [&room] { room.release(); }};
  writer.put(big_batch());  // taken by the writer, which then sits in write()
  writer.put(big_batch());
  writer.put(big_batch());  // returns once the first was taken
  EXPECT_FALSE(writer.has_room());

  size_t read = 0;
  std::thread reader{[&read, &ends] { read = drained(ends[0]); }};
  room.acquire();
  writer.finish();
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(writer.frames(), 3u);
  EXPECT_EQ(read, writer.bytes());
  EXPECT_GT(read, size_t{3} * kMoreThanAPipeHolds);
}

TEST(CaptureWriter, HandsBuffersBackWithTheirMemory) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  CaptureWriter writer{CaptureFiles{ends[1]}, {}, 0, {}};
  EXPECT_FALSE(writer.recycled().has_room_for(1));
  CaptureBuffer buffer;
  buffer.reserve(1000, 10);
  CaptureWriter::Batch batch{.buffers = {}, .floor = dataplane::Instant::at_ps(1)};
  batch.buffers.push_back(std::move(buffer));
  writer.put(std::move(batch));
  writer.finish();
  ::close(ends[0]);
  EXPECT_TRUE(writer.recycled().has_room_for(1000));
}

// A worker that records frames never waits for memory: what was reserved is all there is.
TEST(CaptureBuffer, HasRoomForAsManyBytesAndRecordsAsWereReserved) {
  CaptureBuffer buffer;
  buffer.reserve(100, 3);
  const std::vector<uint8_t> frame(60, 0xAB);
  EXPECT_TRUE(buffer.has_room_for(100));
  EXPECT_FALSE(buffer.has_room_for(101));
  buffer.add(CaptureRecord{.captured_bytes = 60}, frame.data(), nullptr);
  EXPECT_TRUE(buffer.has_room_for(40));
  EXPECT_FALSE(buffer.has_room_for(41));
  buffer.add(CaptureRecord{.captured_bytes = 1}, frame.data(), nullptr);
  EXPECT_TRUE(buffer.has_room_for(1));
  buffer.add(CaptureRecord{.captured_bytes = 1}, frame.data(), nullptr);
  EXPECT_FALSE(buffer.has_room_for(1)) << "a fourth record";
  EXPECT_EQ(buffer.bytes(), 62U);
  buffer.clear();
  EXPECT_TRUE(buffer.empty());
  EXPECT_TRUE(buffer.has_room_for(100)) << "its memory is kept";
}

}  // namespace
}  // namespace softspine::control
