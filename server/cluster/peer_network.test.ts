import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isReport, REASONS_KEPT, THROWERS_KEPT } from '../moderation/moderation_list.ts';
import { HEARTBEAT_BYTES_MAX } from '../wire/peers/heartbeat.ts';
import {
  PEER_FRAME_BYTES_MAX,
  PEER_RECORDS_MAX,
  REFERENCE_BYTES_MAX,
  writePeerAnswer,
} from '../wire/peers/peer_frame.ts';
import { PEER_PEEKS_BYTES_MAX } from '../wire/peers/peer_peeks.ts';
import { PEER_SAYINGS_BYTES_MAX } from '../wire/peers/peer_sayings.ts';
import { REASON_BYTES_MAX } from '../wire/rules.ts';
import { REPORTS_ANSWERED_MAX } from './operator_requests.ts';
import { HEAD_BYTES, PART_BYTES } from './peer_files.ts';
import { MESSAGE_BYTES_MAX } from './peer_network.ts';

/** The largest answer to a frame: a verdict on each record, with the longest name. */
function largestAnswer(): Buffer {
  const verdicts = new Uint8Array(PEER_RECORDS_MAX);
  const references = Array.from(verdicts, () => Buffer.alloc(REFERENCE_BYTES_MAX));
  return writePeerAnswer({ status: 0, epoch: 2 ** 32 - 1, number: Number.MAX_SAFE_INTEGER, verdicts, references });
}

/** The largest list of reports: all texts are as long as they may be, and need escapes. */
function largestReports(): Buffer {
  const longest = Number.MAX_SAFE_INTEGER;
  const report = {
    ...{ file: 'f'.repeat(64), count: longest, firstMs: longest, lastMs: longest },
    reasons: Array.from({ length: REASONS_KEPT }, () => '"'.repeat(REASON_BYTES_MAX)),
    desktops: Array.from({ length: THROWERS_KEPT }, () => 'ffffff-ffffffff'),
  };
  assert.ok(isReport(report));
  return Buffer.from(JSON.stringify({ reports: Array.from({ length: REPORTS_ANSWERED_MAX }, () => report) }));
}

describe('the messages of relays', () => {
  it('fit into the largest message that a network must carry', () => {
    const largest = {
      heartbeat: HEARTBEAT_BYTES_MAX,
      frame: PEER_FRAME_BYTES_MAX,
      answer: largestAnswer().length,
      sayings: PEER_SAYINGS_BYTES_MAX,
      peeks: PEER_PEEKS_BYTES_MAX,
      'part of a file': HEAD_BYTES + PART_BYTES,
      reports: largestReports().length,
    };
    for (const [kind, bytes] of Object.entries(largest)) assert.ok(bytes <= MESSAGE_BYTES_MAX, `${kind}: ${bytes}`);
  });
});
