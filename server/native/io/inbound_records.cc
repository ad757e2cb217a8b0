#include "io/inbound_records.h"

#include <cstring>

#include "http/crossing_scan.h"

namespace sprites {
namespace {

InboundRecord RequestRecord(RecordKind kind, Ticket ticket, const Request& request) {
  const uint64_t packed = ticket.Pack();
  InboundRecord record = {};
  record.kind = kind;
  record.ticket_low = static_cast<uint32_t>(packed);
  record.ticket_high = static_cast<uint32_t>(packed >> 32);
  record.slot = request.slot;
  record.generation = request.generation;
  memcpy(record.token, request.token, sizeof record.token);
  return record;
}

RecordKind KindOf(Post post) {
  switch (post) {
    case Post::kCrossing:
      return RecordKind::kCrossing;
    case Post::kSaying:
      return RecordKind::kSaying;
    case Post::kStage:
      break;
  }
  return RecordKind::kStage;
}

// Appends the head and leaves room for the body. Returns where the body begins.
uint8_t* AppendHead(RecordBuffer* inbound, InboundRecord* record) {
  record->bytes = AlignedToEight(kInboundHeadBytes + record->length);
  uint8_t* const at = inbound->Extend(record->bytes);
  memcpy(at, record, kInboundHeadBytes);
  return at + kInboundHeadBytes;
}

}  // namespace

void AppendPoll(RecordBuffer* inbound, Ticket ticket, const Request& request) {
  InboundRecord record = RequestRecord(RecordKind::kPoll, ticket, request);
  record.bytes = kInboundHeadBytes;
  if (request.has_cursor) {
    record.length = 1;
    record.epoch = request.epoch;
    record.seq = request.seq;
  }
  memcpy(inbound->Extend(record.bytes), &record, kInboundHeadBytes);
}

void AppendCrossing(RecordBuffer* inbound, Ticket ticket, const Request& request,
                    const uint8_t* body) {
  InboundRecord record = RequestRecord(KindOf(request.post), ticket, request);
  record.length = request.body_length;
  ScannedCrossing scanned;
  uint8_t passage[kPassageBytesMax];
  if (request.post == Post::kCrossing && ScanCrossing(body, record.length, &scanned)) {
    record.crossing_low = static_cast<uint32_t>(scanned.crossing);
    record.crossing_high = static_cast<uint32_t>(scanned.crossing >> 32);
    record.edge_and_one = static_cast<uint32_t>(scanned.edge) + 1;
    record.length = WritePassage(scanned, passage);
    body = passage;
  }
  uint8_t* const at = AppendHead(inbound, &record);
  if (record.length != 0) {
    memcpy(at, body, record.length);
  }
}

void AppendNotice(RecordBuffer* inbound, RecordKind kind, Ticket ticket, uint32_t slot) {
  const uint64_t packed = ticket.Pack();
  const uint32_t words[kNoticeBytes / 4] = {
      static_cast<uint32_t>(kind),         kNoticeBytes, static_cast<uint32_t>(packed),
      static_cast<uint32_t>(packed >> 32), slot,         0};
  memcpy(inbound->Extend(kNoticeBytes), words, sizeof words);
}

void AppendHandover(RecordBuffer* inbound, int descriptor, AddressBlock block, uint8_t listener,
                    const uint8_t* bytes, uint32_t size) {
  InboundRecord record = {};
  record.kind = RecordKind::kHandover;
  record.length = size;
  record.descriptor = static_cast<uint32_t>(descriptor);
  record.listener = listener;
  record.block_low = static_cast<uint32_t>(block);
  record.block_high = static_cast<uint32_t>(block >> 32);
  memcpy(AppendHead(inbound, &record), bytes, size);
}

}  // namespace sprites
