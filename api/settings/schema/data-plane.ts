// Sizes, waiting times and records of the data plane. Names, ranges and defaults are the data plane's own tables, so
// that one meaning and one range holds for its local settings file and for these settings.
import { Type, type TInteger } from '@sinclair/typebox';
import {
  auditRequestBodyBytesMaxMax,
  defaultLimits,
  defaultReplaySampling,
  defaultTimeouts,
  limitFields,
  replaySamplingFields,
  requestBodyOverLimits,
  timeoutFields,
  type NumberField,
} from '#proxy/contract';
import { Choice, closed, field, Flag, Whole } from './field.js';

type Described = readonly [description: string, unit: string];

/** Integers with the ranges of `fields` and the defaults of `defaults`. */
function numbers<Name extends string, Member extends string>(
  fields: Readonly<Record<Name, NumberField<Member>>>,
  defaults: Readonly<Record<Member, unknown>>,
  described: Readonly<Record<Name, Described>>,
): Record<Name, TInteger> {
  const entries = (Object.entries(fields) as [Name, NumberField<Member>][]).map(([name, [member, min, max]]) => {
    const [description, unit] = described[name];
    return [name, { ...Whole(min, max, defaults[member] as number), description, 'x-unit': unit }];
  });
  return Object.fromEntries(entries) as Record<Name, TInteger>;
}

const limits = numbers(limitFields, defaultLimits, {
  uri_bytes_max: ['longest request target; beyond it 414', 'bytes'],
  header_bytes_max: ['all header fields of a request together; beyond it 431', 'bytes'],
  header_fields_max: ['header fields of a request; beyond it 431', 'fields'],
  request_body_bytes_max: [
    'request body that is held for inspection; beyond it request_body_over_limit decides',
    'bytes',
  ],
  held_body_bytes_max: [
    'all request bodies a worker holds at a time; beyond it 503 for the request that exceeds it',
    'bytes',
  ],
  response_body_bytes_max: [
    'response body that is held for inspection; beyond it the part is inspected and the rest relayed',
    'bytes',
  ],
  decoded_body_bytes_max: ['compressed response body once it is decoded; beyond it the part is inspected', 'bytes'],
  inline_inspection_bytes_max: ['larger request bodies are inspected on a thread of their own', 'bytes'],
  upstream_connections_max: ['connections per worker and upstream', 'connections'],
  upstream_waiters_max: ['requests that wait for such a connection; beyond it 503', 'requests'],
});

const timeouts = numbers(timeoutFields, defaultTimeouts, {
  client_head_ms: [
    'time a client has to send the request head; node:http listener, from the next start of a worker on',
    'milliseconds',
  ],
  client_body_idle_ms: ['time between two pieces of a request body; beyond it 408', 'milliseconds'],
  client_idle_ms: [
    'time a client connection may idle, or take nothing of its response; node:http listener, from the next start of a worker on',
    'milliseconds',
  ],
  upstream_connect_ms: ['time an upstream has to accept a connection; beyond it 504', 'milliseconds'],
  upstream_head_ms: ['time an upstream has to begin its answer; beyond it 504', 'milliseconds'],
  upstream_body_idle_ms: [
    'time between two pieces of an answer; beyond it 504, or the connection is cut when part of it was relayed',
    'milliseconds',
  ],
  upstream_keep_alive_ms: ['time an unused upstream connection is kept', 'milliseconds'],
  drain_ms: ['time that requests have to end when a worker stops', 'milliseconds'],
});

const replaySampling = numbers(replaySamplingFields, defaultReplaySampling, {
  every: ['one in so many ordinary requests is kept for replays, secrets masked; 0 keeps none', 'requests'],
  per_second_max: ['at most so many per second and worker', 'requests'],
});

export const dataPlaneFields = {
  limits: field(
    Type.Object(
      {
        ...limits,
        request_body_over_limit: {
          ...Choice(requestBodyOverLimits, defaultLimits.requestBodyOverLimit),
          description: 'reject: 413; partial: the part is inspected and the rest goes through uninspected',
        },
      },
      { ...closed, default: {} },
    ),
    'operator',
    'sizes beyond which the data plane refuses or inspects a part',
  ),
  timeouts: field(
    Type.Object(timeouts, { ...closed, default: {} }),
    'operator',
    'how long the data plane waits; while flood_timeouts_enabled is on, flood_read_header, flood_read_body and flood_idle count instead of the client_… fields',
  ),
  accept_request_id: field(Flag(false), 'admin', 'take X-Request-Id from trusted proxies instead of making one'),
  audit_request_body_bytes_max: field(
    Whole(0, auditRequestBodyBytesMaxMax, 0),
    'admin',
    'of a request body in the audit log of a data-plane node; 0 writes none',
    'bytes',
  ),
  replay_sampling: field(
    Type.Object(replaySampling, { ...closed, default: {} }),
    'admin',
    'ordinary requests that are kept whole, so that an apply can say which of them new rules would block',
  ),
};
