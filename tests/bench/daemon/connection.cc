#include "connection.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <cstring>
#include <string_view>

namespace leveret::load {

namespace asio = boost::asio;
using boost::system::error_code;

void Connection::open(const asio::generic::stream_protocol::endpoint& endpoint) {
  socket_.connect(endpoint);
  if (endpoint.protocol().family() != AF_UNIX) {
    socket_.set_option(asio::ip::tcp::no_delay(true));
  }
  read();
}

void Connection::take(const Sent& sent) {
  filling_ += requests_[sent.request].bytes;
  sent_.push_back(sent);
}

void Connection::flush() {
  if (is_writing_ || filling_.empty() || is_broken_) return;
  is_writing_ = true;
  writing_.swap(filling_);
  filling_.clear();
  asio::async_write(socket_, asio::buffer(writing_), [this](error_code error, std::size_t) {
    is_writing_ = false;
    if (error) return break_off(error.message());
    changed_(*this);
  });
}

void Connection::read() {
  if (incoming_.size() < filled_ + kPiece) incoming_.resize(filled_ + kPiece);
  socket_.async_read_some(asio::buffer(incoming_.data() + filled_, incoming_.size() - filled_),
                          [this](error_code error, std::size_t bytes) {
                            if (error) return break_off(error.message());
                            filled_ += bytes;
                            take_answers();
                            if (is_broken_) return;
                            changed_(*this);
                            read();
                          });
}

void Connection::take_answers() {
  std::string_view bytes(incoming_.data(), filled_);
  while (!bytes.empty()) {
    if (sent_.empty()) return break_off("more came than answers");
    const AnswerReader::Answer answer = reader_.read(bytes, requests_[sent_.front().request]);
    if (!answer.is_whole) break;
    answered_(sent_.front(), answer);
    sent_.pop_front();
    bytes.remove_prefix(answer.size);
  }
  filled_ = bytes.size();
  std::memmove(incoming_.data(), bytes.data(), filled_);
}

void Connection::break_off(const std::string& problem) {
  if (is_broken_) return;
  is_broken_ = true;
  problem_ = problem;
  error_code ignored;
  socket_.close(ignored);
  changed_(*this);
}

}  // namespace leveret::load
