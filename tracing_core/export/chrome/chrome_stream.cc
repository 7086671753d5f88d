#include "tracing_core/export/chrome/chrome_stream.h"

#include <new>

namespace tracing { inline namespace v1 { namespace internal {

ChromeChunk* ChromeChunk::make(std::size_t capacity) noexcept {
  void* const memory = ::operator new(sizeof(ChromeChunk) + capacity, std::nothrow);
  if (memory == nullptr) return nullptr;
  auto* const chunk = new (memory) ChromeChunk;
  chunk->capacity = capacity;
  return chunk;
}

void ChromeChunk::destroy(ChromeChunk* chunk) noexcept {
  chunk->~ChromeChunk();
  ::operator delete(chunk);
}

ChromeStream::~ChromeStream() {
  for (ChromeChunk* chunk = reading_ != nullptr ? reading_ : first_; chunk != nullptr;) {
    ChromeChunk* const later = chunk->next.load(std::memory_order_relaxed);
    ChromeChunk::destroy(chunk);
    chunk = later;
  }
}

std::size_t ChromeStream::add(ChromeChunk* chunk) noexcept {
  std::size_t full = 0;
  if (chunk_ == nullptr) {
    first_ = chunk;
  } else {
    full = chunk_->capacity;
    chunk_->used = static_cast<std::size_t>(at_ - chunk_->data());
    chunk_->next.store(chunk, std::memory_order_release);
  }
  chunk_ = chunk;
  at_ = chunk->data();
  room_ = chunk->capacity;
  return full;
}

}}}  // namespace tracing::v1::internal
