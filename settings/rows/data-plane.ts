// Sizes, waiting times and records of the data plane. Each description says what is beyond the value.
import { Type } from '@sinclair/typebox';
import { Choice, closed, Flag, member, setting, Whole } from '../row.js';

const bytes = (minimum: number, maximum: number, value: number, description: string) =>
  member(Whole(minimum, maximum, value), description, 'bytes');
const waiting = (value: number, description: string) =>
  member(Whole(10, 3_600_000, value), description, 'milliseconds');

const limits = {
  uri_bytes_max: bytes(256, 65_536, 8192, 'longest request target; beyond it 414'),
  header_bytes_max: bytes(1024, 262_144, 32_768, 'all header fields of a request together; beyond it 431'),
  header_fields_max: member(Whole(8, 1000, 128), 'header fields of a request; beyond it 431', 'fields'),
  request_body_bytes_max: bytes(
    1024,
    1_073_741_824,
    13_107_200,
    'request body that is held for inspection; beyond it request_body_over_limit decides',
  ),
  request_body_over_limit: member(
    Choice(['reject', 'partial'], 'reject'),
    'reject: 413; partial: the part is inspected and the rest goes through uninspected',
  ),
  held_body_bytes_max: bytes(
    65_536,
    1_099_511_627_776,
    268_435_456,
    'all request bodies a worker holds at a time; beyond it 503 for the request that exceeds it',
  ),
  held_body_client_percent_max: member(
    Whole(1, 100, 25),
    'part of held_body_bytes_max for one client (address, or /64 of IPv6), but always one request body; beyond it 429',
    'percent',
  ),
  request_bytes_per_second_min: member(
    Whole(0, 1_000_000_000, 240),
    'a client that sends less of a request body, over timeouts/client_progress_ms, gets 408; 0 allows any pace',
    'bytes per second',
  ),
  response_bytes_per_second_min: member(
    Whole(0, 1_000_000_000, 240),
    'a client that takes less of a response, over timeouts/client_progress_ms, is cut; 0 allows any pace',
    'bytes per second',
  ),
  slow_client_bytes_per_second: member(
    Whole(0, 1_000_000_000, 16_384),
    'slower clients give way, slowest first, when all upstream connections or the memory for request bodies are in ' +
      'use: their response is cut, their upload gets 408; 0: no client is cut',
    'bytes per second',
  ),
  slow_responses_per_client_max: member(
    Whole(1, 65_536, 64),
    'responses of one client (address, or /64 of IPv6) per worker for which an upstream connection waits; beyond it ' +
      'the slowest is cut',
    'responses',
  ),
  relay_buffer_bytes_max: bytes(
    0,
    1_073_741_824,
    1_048_576,
    'part of a response that is kept for a slow client, so that the upstream connection is free; beyond it the ' +
      'upstream waits for the client',
  ),
  relay_buffers_bytes_max: bytes(
    0,
    1_099_511_627_776,
    67_108_864,
    'all such parts of a worker, a quarter of it for one client; beyond it upstreams wait for their clients',
  ),
  response_body_bytes_max: bytes(
    1024,
    67_108_864,
    524_288,
    'response body that is held for inspection; beyond it the part is inspected and the rest relayed',
  ),
  decoded_body_bytes_max: bytes(
    1024,
    67_108_864,
    2_097_152,
    'compressed response body once it is decoded; beyond it the part is inspected',
  ),
  decoded_request_bytes_max: bytes(
    1024,
    1_073_741_824,
    13_107_200,
    'compressed request body once it is decoded for inspection; beyond it 413',
  ),
  decoded_request_ratio_max: member(
    Whole(1, 2000, 100),
    'times that what a compressed request body has over 1 KiB may grow, beside 1.5 KiB that any may become (up to ' +
      '6.5 KiB where nearly all of it is letters, digits and blanks, 12 KiB where it is numbers); beyond it 413',
    'times',
  ),
  request_codings_max: member(
    Whole(0, 3, 2),
    'content codings (gzip, deflate, br) on top of each other; beyond it 413, and 0 takes no compressed bodies: 415',
    'codings',
  ),
  inline_inspection_bytes_max: bytes(
    1024,
    67_108_864,
    32_768,
    'larger request bodies are inspected on a thread of their own',
  ),
  worker_heap_mb_max: member(
    Whole(128, 65_536, 1024),
    'heap of a worker, without request bodies and rules; at three quarters of it the worker is replaced and finishes ' +
      'what it has; from the next start of a worker on',
    'MiB',
  ),
  upstream_connections_max: member(
    Whole(1, 65_536, 256),
    'connections per worker and upstream, without those of streams_max',
    'connections',
  ),
  streams_max: member(
    Whole(0, 1_000_000, 8192),
    'WebSockets and event streams of a worker at a time, a quarter of it for one client (address, or /64 of IPv6); ' +
      'beyond it 503. They do not count as upstream_connections_max',
    'streams',
  ),
  upstream_waiters_max: member(
    Whole(0, 1_000_000, 1024),
    'requests that wait for such a connection; beyond it 503',
    'requests',
  ),
};

const timeouts = {
  client_head_ms: waiting(
    15_000,
    'time a client has to send the request head, beyond it 408; not with the uws listener',
  ),
  client_body_idle_ms: waiting(30_000, 'time between two pieces of a request body; beyond it 408'),
  client_idle_ms: waiting(
    65_000,
    'time a client connection may idle, or take nothing of its response; not with the uws listener',
  ),
  client_progress_ms: waiting(
    15_000,
    'time over which the least pace of clients is measured: limits/request_bytes_per_second_min and ' +
      'limits/response_bytes_per_second_min',
  ),
  upstream_connect_ms: waiting(5000, 'time an upstream has to accept a connection; beyond it 504'),
  upstream_head_ms: waiting(60_000, 'time an upstream has to begin its answer; beyond it 504'),
  upstream_body_idle_ms: waiting(
    60_000,
    'time between two pieces of an answer; beyond it 504, or the connection is cut when part of it was relayed',
  ),
  upstream_keep_alive_ms: waiting(
    4000,
    'time an unused upstream connection is kept; less where the upstream announces (Keep-Alive) a shorter one, and ' +
      'for requests that must not be repeated where it was seen to close earlier',
  ),
  upstream_max_age_ms: waiting(300_000, 'age from which on an upstream connection takes no further request'),
  upstream_resolve_ms: waiting(
    10_000,
    'time after which the name of an upstream is looked up again, where its DNS record has no TTL (1 to 300 s of it ' +
      'count); connections to addresses that are gone end behind their request',
  ),
  drain_ms: waiting(8000, 'time that requests have to end when a worker stops, or an old generation retires'),
};

const wsInspect = {
  enabled: member(Flag(false), 'whether rules see them; from the next handshake on, without compression then'),
  message_bytes_max: bytes(
    128,
    1_048_576,
    65_536,
    'largest such message; a longer one that is text ends the connection with 1009',
  ),
};

const replaySampling = {
  every: member(
    Whole(0, 1_000_000, 100),
    'one in so many ordinary requests is kept for replays, secrets masked; 0 keeps none',
    'requests',
  ),
  per_second_max: member(Whole(1, 100, 5), 'at most so many per second and worker', 'requests'),
};

export const dataPlaneRows = {
  limits: setting(Type.Object(limits, { ...closed, default: {} }), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: 'proxy/http/request-syntax.ts',
    description: 'sizes beyond which the data plane refuses or inspects a part',
  }),
  timeouts: setting(Type.Object(timeouts, { ...closed, default: {} }), {
    access: 'operator',
    reach: ['data'],
    enforcedBy: 'proxy/worker/worker.ts',
    description:
      'how long the data plane waits; while flood_timeouts_enabled is on, flood_read_header, flood_read_body, ' +
      'flood_write and flood_idle count instead of the client_… fields',
  }),
  ws_inspect: setting(Type.Object(wsInspect, { ...closed, default: {} }), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: 'proxy/road/websocket-messages.ts',
    description:
      'messages of clients on WebSockets of protected sites: those that are text, and what is text in binary ones; a ' +
      'message that rules block ends its connection with 1008. Off: messages pass unseen. Those of the application ' +
      'always do',
  }),
  replay_sampling: setting(Type.Object(replaySampling, { ...closed, default: {} }), {
    access: 'admin',
    reach: ['data'],
    enforcedBy: 'proxy/worker/worker.ts',
    description: 'ordinary requests that are kept whole, so that an apply can say which of them new rules would block',
  }),
};
