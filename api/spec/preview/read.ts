// What there is to hold a specification to: whole requests that were kept for replays, lines of the request log, and
// events of the checks that nodes make of live traffic.
import { schemaRuleIds } from '#proxy/contract';
import type { Queryable } from '../../db/client.js';
import { findSamples, samplesKept } from '../../records/samples.js';
import { recordedOf, type RecordedRequest } from './check.js';

export const linesMax = 20_000;
const eventsMax = 5000;

interface Line {
  readonly request_id: string;
  readonly at: Date;
  readonly method: string;
  readonly uri: string;
  readonly verdict: string;
  readonly request_bytes: number;
}

const passed: ReadonlySet<string> = new Set(['pass', 'flag']);

const isRefused = (line: Line | undefined): boolean => line !== undefined && !passed.has(line.verdict);

/** Of one site, the newest first; a request that was kept whole is not told a second time as a line. */
export async function readRecorded(sql: Queryable, site: string, since: Date): Promise<RecordedRequest[]> {
  const lines = await sql<Line[]>`
    select request_id, at, method, uri, verdict, request_bytes from request_records
    where site = ${site} and at >= ${since} order by at desc, id desc limit ${linesMax}`;
  const byId = new Map(lines.map((line) => [line.request_id, line]));
  const samples = (await findSamples(sql, samplesKept)).filter(
    (sample) => sample.site === site && sample.atMs >= since.getTime(),
  );
  const whole = samples.map((sample) => recordedOf(sample, isRefused(byId.get(sample.requestId))));
  const known = new Set(whole.map(({ requestId }) => requestId));
  const others = lines
    .filter((line) => !known.has(line.request_id))
    .map(
      (line): RecordedRequest => ({
        ...{ requestId: line.request_id, atMs: line.at.getTime(), method: line.method, uri: line.uri },
        ...{ headers: null, body: null, hadBody: Number(line.request_bytes) > 0 },
        isRefused: !passed.has(line.verdict),
      }),
    );
  return [...whole, ...others];
}

export interface LiveGroup {
  readonly specification: string;
  readonly operation: string;
  readonly pointer: string;
  readonly keyword: string;
  readonly requests: number;
  readonly examples: readonly string[];
}

export interface LiveCount {
  /** Events that were read; at most so many of the newest. */
  readonly events: number;
  readonly isCut: boolean;
  readonly groups: readonly LiveGroup[];
}

interface Message {
  readonly rule_id?: unknown;
  readonly match?: unknown;
  readonly data?: unknown;
}

const textsOf = ({ match, data }: Message): Omit<LiveGroup, 'requests' | 'examples'> | null => {
  const named = /specification `([^`']*)' against `([^`']*)'/.exec(String(match));
  const failed = /^(.*): ([A-Za-z0-9]+)$/.exec(String(data));
  if (named === null || failed === null) return null;
  const [, specification = '', operation = ''] = named;
  const [, pointer = '', keyword = ''] = failed;
  return { specification, operation, pointer: pointer.replace(/\/\d+(?=\/|$)/g, '/*'), keyword };
};

/** What nodes said of requests, bodies and all, while `schema_action` was alert or block. */
export async function readLive(sql: Queryable, site: string, since: Date): Promise<LiveCount> {
  const ids: readonly number[] = [schemaRuleIds.request, schemaRuleIds.unknown];
  const rows = await sql<{ request_id: string; details: { messages?: readonly Message[] } | string }[]>`
    select request_id, details from security_events
    where site = ${site} and at >= ${since} and kind = 'waf'
      and (strpos(details::text, ${String(ids[0])}) > 0 or strpos(details::text, ${String(ids[1])}) > 0)
    order by at desc, id desc limit ${eventsMax + 1}`;
  const groups = new Map<
    string,
    { texts: Omit<LiveGroup, 'requests' | 'examples'>; ids: string[]; requests: number }
  >();
  let events = 0;
  for (const { request_id: requestId, details } of rows.slice(0, eventsMax)) {
    const { messages = [] } =
      typeof details === 'string' ? (JSON.parse(details) as { messages?: readonly Message[] }) : details;
    const message = messages.find(({ rule_id: id }) => ids.includes(Number(id)));
    const texts = message === undefined ? null : textsOf(message);
    if (texts === null) continue;
    events += 1;
    const key = JSON.stringify(texts);
    const group = groups.get(key) ?? { texts, ids: [], requests: 0 };
    groups.set(key, group);
    group.requests += 1;
    if (group.ids.length < 5) group.ids.push(requestId);
  }
  const sorted = [...groups.values()].sort((left, right) => right.requests - left.requests);
  return {
    events,
    isCut: rows.length > eventsMax,
    groups: sorted.map(({ texts, ids: examples, requests }) => ({ ...texts, requests, examples })),
  };
}
