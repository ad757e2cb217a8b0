// Writes the records that go to JavaScript; record.h has their layout.
//
// REQUIRES of each: the buffer has room for kInboundRecordBytesMax.
#ifndef SERVER_NATIVE_IO_INBOUND_RECORDS_H_
#define SERVER_NATIVE_IO_INBOUND_RECORDS_H_

#include <cstdint>

#include "http/request_parser.h"
#include "io/address_counts.h"
#include "io/record.h"
#include "io/ticket.h"

namespace sprites {

// The longest record: a handover of all that was read.
constexpr uint32_t kInboundRecordBytesMax = AlignedToEight(kInboundHeadBytes + kRequestBytesMax);

void AppendPoll(RecordBuffer* inbound, Ticket ticket, const Request& request);

// A crossing that the scan accepts is checked here, and its passage follows the record; any other
// body, and that of a saying or a stage, follows unchanged, and JavaScript looks at it.
void AppendCrossing(RecordBuffer* inbound, Ticket ticket, const Request& request,
                    const uint8_t* body);

// A record that is only a ticket and its slot: kClosed or kOutdated.
void AppendNotice(RecordBuffer* inbound, RecordKind kind, Ticket ticket, uint32_t slot);

// A connection for Node: its descriptor, its block of addresses, and the bytes that were read from
// it.
void AppendHandover(RecordBuffer* inbound, int descriptor, AddressBlock block, uint8_t listener,
                    const uint8_t* bytes, uint32_t size);

}  // namespace sprites

#endif  // SERVER_NATIVE_IO_INBOUND_RECORDS_H_
