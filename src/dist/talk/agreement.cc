#include "dist/talk/agreement.h"

#include <algorithm>

namespace leveret::dist {

void agree(Communicator& ranks, std::exception_ptr error) {
  const std::vector<Bytes> all = ranks.gather(error ? "failed" : "");
  Bytes verdict;
  if (std::ranges::any_of(all, [](const Bytes& word) { return !word.empty(); })) verdict = "failed";
  ranks.broadcast(verdict);
  if (verdict.empty()) return;
  ranks.know_the_end();
  if (error) std::rethrow_exception(error);
  throw FailedElsewhere(1);
}

void together(Communicator& ranks, const std::function<void()>& step) {
  std::exception_ptr error;
  try {
    step();
  } catch (...) {
    error = std::current_exception();
  }
  agree(ranks, error);
}

Bytes from_root(Communicator& ranks, const std::function<Bytes()>& work,
                const std::function<int(std::exception_ptr)>& exit_code) {
  Bytes bytes;
  std::exception_ptr error;
  if (ranks.is_root()) {
    try {
      bytes = work();
      bytes.push_back(0);  // the last byte is 0, or the exit code
    } catch (...) {
      error = std::current_exception();
      bytes.assign(1, static_cast<char>(exit_code(error)));
    }
  }
  ranks.broadcast(bytes);
  const int code = static_cast<unsigned char>(bytes.back());
  bytes.pop_back();
  if (code == 0) return bytes;
  ranks.know_the_end();
  if (error) std::rethrow_exception(error);
  throw FailedElsewhere(code);
}

}  // namespace leveret::dist
