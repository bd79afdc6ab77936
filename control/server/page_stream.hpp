// SPDX-License-Identifier: Apache-2.0
// Carries an answer too large for one message, page by page, from the thread that makes it to the connection that sends
// it. One page waits at most, so two exist at a time, however large the answer is. Only the thread that makes the pages
// waits for a slow reader.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace softspine::control {

class PageStream {
 public:
  // `wake`: called by the maker's thread when there is a page, or the end.
  explicit PageStream(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Called by the maker: waits until the previous page has been taken. False: no more pages are wanted.
  bool put(std::string page) {
    {
      std::unique_lock lock{lock_};
      changed_.wait(lock, [this] { return !page_ || cancelled_; });
      if (cancelled_) return false;
      page_ = std::move(page);
    }
    wake_();
    return true;
  }
  // Called by the maker: no page follows. `error`: why the answer is incomplete; empty if it is complete.
  void end(std::string error) {
    {
      const std::lock_guard guard{lock_};
      ended_ = true;
      error_ = std::move(error);
    }
    wake_();
  }

  // Called by the connection: the next page, if there is one. After the last page, has_ended() is true.
  std::optional<std::string> take() {
    const std::lock_guard guard{lock_};
    auto page = std::exchange(page_, std::nullopt);
    if (page) changed_.notify_all();
    return page;
  }
  bool has_ended() {
    const std::lock_guard guard{lock_};
    return ended_ && !page_;
  }
  // Why the answer is incomplete; empty if it is complete.
  std::string error() {
    const std::lock_guard guard{lock_};
    return error_;
  }
  void cancel() {
    const std::lock_guard guard{lock_};
    cancelled_ = true;
    page_.reset();
    changed_.notify_all();
  }

 private:
  std::function<void()> wake_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::optional<std::string> page_;
  std::string error_;
  bool ended_ = false;
  bool cancelled_ = false;
};

}  // namespace softspine::control
