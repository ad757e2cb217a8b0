// The link between two processes: its memory, its doorbells, and a peer that ends in the middle.
#include "ring/ring_link.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <vector>

namespace sprites {
namespace {

// What a process that makes a link has.
struct Maker {
  Maker() : own_doorbell(eventfd(0, 0)), peer_doorbell(eventfd(0, 0)) {
    link = RingLink::Make(peer_doorbell, &memory);
    REQUIRE(link != nullptr);
  }
  ~Maker() {
    close(memory);
    close(own_doorbell);
  }
  // Its peer, in the same process or in another.
  std::unique_ptr<RingLink> OpenPeer() const { return RingLink::Open(dup(own_doorbell), memory); }

  const int own_doorbell;
  const int peer_doorbell;
  int memory = -1;
  std::unique_ptr<RingLink> link;
};

// Waits until `doorbell` has rung. An eventfd that blocks is enough here.
void Await(int doorbell) {
  eventfd_t rings = 0;
  eventfd_read(doorbell, &rings);
}

// Sends all of the bytes.
void WriteAll(RingLink* link, int own_doorbell, std::vector<uint8_t> bytes) {
  for (uint32_t done = 0; done < bytes.size();) {
    done += link->Write(bytes.data() + done, static_cast<uint32_t>(bytes.size()) - done);
    if (done < bytes.size()) {
      Await(own_doorbell);
    }
  }
}

TEST_CASE("ring link › carries bytes both ways between two processes, more than the ring holds") {
  Maker maker;
  const uint32_t kBytes = 5 * RingLink::kRingBytes + 123;
  const pid_t child = fork();
  if (child == 0) {
    // Sends back every byte, plus one.
    const std::unique_ptr<RingLink> link = maker.OpenPeer();
    std::vector<uint8_t> bytes(10'000);
    for (uint32_t count = 0; count < kBytes;) {
      if (link->Sleep()) {
        Await(maker.peer_doorbell);
      }
      bytes.resize(10'000);
      const uint32_t read = link->Read(bytes.data(), 10'000);
      bytes.resize(read);
      std::transform(bytes.begin(), bytes.end(), bytes.begin(), [](uint8_t b) { return b + 1; });
      WriteAll(link.get(), maker.peer_doorbell, bytes);
      count += read;
    }
    _exit(0);
  }
  uint32_t sent = 0;
  uint32_t received = 0;
  bool is_right = true;
  std::vector<uint8_t> bytes(7000);
  while (received < kBytes) {
    const uint32_t size = std::min<uint32_t>(7000, kBytes - sent);
    for (uint32_t i = 0; i < size; ++i) {
      bytes[i] = static_cast<uint8_t>((sent + i) * 7 >> 2);
    }
    const uint32_t written = maker.link->Write(bytes.data(), size);
    sent += written;
    if (written == 0 && maker.link->Sleep()) {
      Await(maker.own_doorbell);
    }
    const uint32_t read = maker.link->Read(bytes.data(), 7000);
    for (uint32_t i = 0; i < read; ++i) {
      is_right = is_right && bytes[i] == static_cast<uint8_t>(((received + i) * 7 >> 2) + 1);
    }
    received += read;
  }
  CHECK(is_right);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

TEST_CASE("ring link › outlives a peer that is killed while it writes") {
  Maker maker;
  const pid_t child = fork();
  if (child == 0) {
    const std::unique_ptr<RingLink> link = maker.OpenPeer();
    const std::vector<uint8_t> bytes(RingLink::kRingBytes, 9);
    for (;;) {
      WriteAll(link.get(), maker.peer_doorbell, bytes);
    }
  }
  std::vector<uint8_t> bytes(50'000);
  uint32_t received = 0;
  while (received < 3 * RingLink::kRingBytes) {
    received += maker.link->Read(bytes.data(), 50'000);
  }
  kill(child, SIGKILL);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  while (maker.link->Read(bytes.data(), 50'000) > 0) {
  }
  CHECK_FALSE(maker.link->is_broken());
  CHECK(maker.link->Sleep());
  CHECK(maker.link->Write(bytes.data(), 50'000) == 50'000);
}

TEST_CASE("ring link › rings only for a peer that sleeps") {
  Maker maker;
  const std::unique_ptr<RingLink> peer = maker.OpenPeer();
  const auto rings = [](int doorbell) {
    eventfd_write(doorbell, 1);
    eventfd_t count = 0;
    eventfd_read(doorbell, &count);
    return count - 1;
  };
  uint8_t byte = 0;
  CHECK(peer->Write(&byte, 1) == 1);
  CHECK(rings(maker.own_doorbell) == 0);
  CHECK(maker.link->Read(&byte, 1) == 1);
  CHECK(maker.link->Sleep());
  CHECK(peer->Write(&byte, 1) == 1);
  CHECK(peer->Write(&byte, 1) == 1);
  CHECK(rings(maker.own_doorbell) == 1);
}

TEST_CASE("ring link › has memory that the peer cannot shrink") {
  Maker maker;
  CHECK(ftruncate(maker.memory, 0) != 0);
  CHECK(errno == EPERM);
}

TEST_CASE("ring link › refuses to open what is no such memory, or that of another version") {
  const int other = memfd_create("other", 0);
  CHECK(RingLink::Open(-1, other) == nullptr);
  CHECK(errno == EINVAL);
  Maker maker;
  void* const head = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, maker.memory, 0);
  REQUIRE(head != MAP_FAILED);
  ++*static_cast<uint32_t*>(head);
  munmap(head, 4096);
  CHECK(RingLink::Open(-1, maker.memory) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(RingLink::Open(-1, -1) == nullptr);
  CHECK(errno == EBADF);
  close(other);
}

}  // namespace
}  // namespace sprites
