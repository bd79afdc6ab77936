// SPDX-License-Identifier: Apache-2.0
// The language of a guest's line, the second serial line of its machine, by which programs are run in the guest from
// here. Three speak it:
//
//   softspine exec ──socket── GuestLine, in the run ──line── softspine-agent, in the guest
//   (a program each)          (who is who)                   (all programs)
//
// Each program has a number on the line, which GuestLine gives; on a socket there is one program, and the number is 0.
// A frame is a header of 8 bytes, little-endian, and its payload of at most 16 KiB:
//
//   kind  stream  size of the payload  number of the program
//   8 bit   8 bit               16 bit                32 bit
//
//   hello      both             kHelloText. The agent's first frame; the other end sends it back; the agent reads
//   nothing
//                               before that, and its first answer is `taken`. Again from the guest: its agent has been
//                               started again, and knows no program
//   words      to the guest     a part of what the program is: NAME=VALUE words of its environment, an empty word, its
//                               command; each ends with a zero byte
//   begin      to               the words are complete. Which of its streams are a terminal (a bit each), rows, columns
//   data       both             bytes of a stream: 0 stdin, 1 stdout, 2 stderr
//   end        to               of stdin
//   taken      both             so many bytes (32 bit) of a stream have been handed on; of program 0, by the guest: so
//                               many bytes of the line have been read
//   signal     to               its number (32 bit), for the program and, if it has no terminal, its process group
//   size       to               rows, columns (16 bit each) of its terminal
//   resume     to               after `stopped`
//   hang_up    to               nobody is there any more: kill it
//   stopped    from             the program on a terminal has stopped (Ctrl-Z)
//   ended      from             the last frame of a program: its exit status (32 bit), 128 + signal if one ended it
//   lost       on a socket      its last frame: why nothing more comes, a text
//   answer     from             to `begin` and to each `signal`, at once: the guest is there
//
// Flow control: of each stream at most kWindowBytes of payload are under way, sent and not yet taken. So whoever passes
// frames on needs no more room than that for a program, and a program whose reader is slow holds up no other. Towards
// the guest at most kLineBytes, with headers, are on the line, sent and not yet read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace softspine::testbeds {

enum class FrameKind : uint8_t {
  kHello = 1,
  kWords,
  kBegin,
  kData,
  kEnd,
  kTaken,
  kSignal,
  kSize,
  kResume,
  kHangUp,
  kStopped,
  kEnded,
  kLost,
  kAnswer
};

enum class Stream : uint8_t { kInput, kOutput, kErrors };
inline constexpr size_t kStreams = 3;

inline constexpr std::string_view kHelloText = "softspine-agent 2";
inline constexpr size_t kHeaderBytes = 8;
inline constexpr size_t kMaxPayloadBytes = 16'384;
inline constexpr size_t kWindowBytes = 65'536;
// A terminal's input queue holds 4,096 bytes, and is throttled from 3,968 on. Seen with UML 6.1: a line that was
// throttled is not read again. Its source agrees: line_throttle() takes the descriptor out of epoll, line_unthrottle()
// reads once.
inline constexpr size_t kLineBytes = 3'500;
inline constexpr size_t kMaxWordsBytes = 1U << 20;  // of one program

struct LineFrame {
  FrameKind kind{};
  Stream stream = Stream::kInput;
  uint32_t program = 0;
  std::string_view payload;
};

struct TerminalSize {
  uint16_t rows = 0;
  uint16_t columns = 0;
};

// What `begin` says. On a terminal stdin and stdout are, or nothing is.
struct BeginTerms {
  bool has_terminal = false;
  bool has_errors_apart = false;  // on a terminal: stderr is none
  TerminalSize size;
};

struct ProgramWords {
  std::vector<std::string> environment;  // NAME=VALUE
  std::vector<std::string> command;      // not empty
};

void append_frame(std::string& out, const LineFrame& frame);
std::string hello_frame();
// A payload of any length as frames of one kind.
void append_frames(std::string& out, LineFrame frame);
void append_number(std::string& out, FrameKind kind, Stream stream, uint32_t program, uint32_t number);
void append_size(std::string& out, uint32_t program, TerminalSize size);
void append_begin(std::string& out, uint32_t program, const BeginTerms& terms);
std::string words_text(const ProgramWords& words);

// Nothing where the payload is not what the kind has.
std::optional<uint32_t> number_in(const LineFrame& frame);
std::optional<TerminalSize> size_in(const LineFrame& frame);
std::optional<BeginTerms> begin_in(const LineFrame& frame);
std::optional<ProgramWords> words_in(std::string_view text);

// Frames out of bytes that come in pieces. The peer may send anything: what cannot be a frame breaks the reader for
// good.
class FrameReader {
 public:
  void add(std::string_view bytes);
  // Its payload is valid until the next call.
  std::optional<LineFrame> next();
  // A whole frame is there, or one that can be none.
  bool has_next() const;
  bool is_broken() const { return is_broken_; }

 private:
  std::string bytes_;
  size_t read_ = 0;  // of them
  bool is_broken_ = false;
};

// Where `hello` is in bytes that come in pieces, also where the frame before it was cut off: an agent that was killed
// has not sent its last frame whole.
class HelloFinder {
 public:
  // Behind so many of these bytes its first one ends.
  std::optional<size_t> end_in(std::string_view bytes);

 private:
  std::string before_;  // the end of what came before, shorter than it
};

// The bytes that still may be sent.
class StreamWindow {
 public:
  explicit StreamWindow(size_t bytes = kWindowBytes) : bytes_(bytes), room_(bytes) {}
  size_t room() const { return room_; }
  void send(size_t bytes) { room_ -= bytes; }
  // False if the peer takes more than was sent.
  bool take_back(size_t bytes) {
    if (bytes > bytes_ - room_) return false;
    room_ += bytes;
    return true;
  }

 private:
  size_t bytes_;
  size_t room_;
};

}  // namespace softspine::testbeds
