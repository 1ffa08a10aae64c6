// Records as data-plane nodes send them.
import type { EventRecord, RequestRecord } from '../../events/record.js';
import { maskRecords } from '../../masking/mask-records.js';
import type { Masker } from '../../masking/masker.js';

/** Masks at once, without a thread that a test would have to end. */
export const masker: Pick<Masker, 'mask'> = { mask: async (records, level) => maskRecords(records, level) };

/** The moment of the first. */
export const start = Date.parse('2026-03-01T12:00:00Z');

/** The n-th request; every tenth was blocked. */
export const request = (n: number, over: Partial<RequestRecord> = {}): RequestRecord => ({
  at_ms: start + n,
  request_id: `r${n}`,
  site: n % 2 === 0 ? 'shop' : 'pay',
  generation: 1,
  client_ip: `203.0.113.${n % 250}`,
  method: 'GET',
  uri: `/orders/${n}?q=a`,
  status: 200,
  verdict: n % 10 === 0 ? 'block' : 'pass',
  inbound_score: 5,
  outbound_score: 0,
  rule_ids: [942100 + (n % 3)],
  user_agent: 'test',
  request_bytes: 100,
  response_bytes: 200,
  latency_us: 1500,
  inspection_us: 60,
  ...over,
});

export const event = (n: number, over: Partial<EventRecord> = {}): EventRecord => ({
  at_ms: start + n,
  request_id: `r${n}`,
  site: 'shop',
  client_ip: '203.0.113.1',
  kind: 'waf',
  verdict: 'block',
  method: 'GET',
  uri: '/x',
  status: 403,
  rule_id: 942100,
  inbound_score: 5,
  details: { n },
  ...over,
});
