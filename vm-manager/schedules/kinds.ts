// What a schedule can start: a row each, with the permission that its owner needs, now and when it runs.
import { ApiError } from '#http-kit';
import { Type, type TObject } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import type { Queryable } from '../database.js';
import { profiles } from '../dast/model.js';
import { builtIn } from '../dast/run/profiles.js';
import { beginScan } from '../dast/run/run-scan.js';
import { requireTarget } from '../dast/targets/endpoints.js';
import { beginExploit } from '../exploit/run-exploit.js';
import { requireExploit } from '../exploit/stored.js';
import { wantedAgain } from '../exploit/wanted.js';
import { fetchNow } from '../intel/fetch.js';
import { setNames } from '../intel/read-set.js';
import { requireWhole, type Reach } from '../kit/caller.js';
import { beginReport, ownerOfReport, ReportPayload, type ReportSchedule } from '../reports/sending/scheduled.js';
import { unfit, type Acting } from '../kit/endpoint.js';
import type { VmPermission } from '../kit/permissions.js';
import type { Run } from '../kit/runs.js';

const closed = { additionalProperties: false } as const;
/** A list of literals, which `Value` knows to check. */
const Word = (words: readonly string[]) => Type.Union(words.map((word) => Type.Literal(word)));
const Id = Type.String({ maxLength: 20, pattern: '^[1-9]\\d{0,17}$' });

export const scheduleKinds = ['scan', 'exploit', 'feed', 'report'] as const;
export type ScheduleKind = (typeof scheduleKinds)[number];
type Payload = Readonly<Record<string, string>>;

interface Kind {
  readonly payload: TObject;
  readonly permission: VmPermission;
  /** The application that it is of; null: the whole organisation. Throws ApiError for what is not within reach. */
  readonly ownerOf: (sql: Queryable, reach: Reach, payload: Payload) => Promise<number | null>;
  readonly start: (call: Acting, payload: Payload, schedule: ReportSchedule) => Promise<Run>;
}

export const kinds: Readonly<Record<ScheduleKind, Kind>> = {
  scan: {
    payload: Type.Object({ target_id: Id, profile: Word(profiles) }, closed),
    permission: 'run_scans',
    ownerOf: async (sql, reach, { target_id: id = '' }) => (await requireTarget(sql, reach, id)).application_id,
    start: async (call, payload) => {
      const profile = builtIn(profiles.find((name) => name === payload['profile']) ?? 'standard');
      return beginScan(call, await requireTarget(call.sql, call.reach, payload['target_id'] ?? ''), profile);
    },
  },
  exploit: {
    payload: Type.Object({ replay_of: Id }, closed),
    permission: 'run_exploit',
    ownerOf: async (sql, reach, { replay_of: id = '' }) => (await requireExploit(sql, reach, id)).application_id,
    start: async (call, { replay_of: id = '' }) => beginExploit(call, await wantedAgain(call, id)),
  },
  feed: {
    payload: Type.Object({ set: Word(setNames) }, closed),
    permission: 'manage_intel',
    ownerOf: async (_, reach) => {
      requireWhole(reach, 'Sets of what is known of vulnerabilities');
      return null;
    },
    start: async (call, payload) => {
      const set = setNames.find((name) => name === payload['set']);
      if (set === undefined) throw new ApiError('conflict', 'There is no such set any more.');
      return fetchNow(call.host, set, call.caller.actor, call.now);
    },
  },
  report: {
    payload: ReportPayload,
    permission: 'send_reports',
    ownerOf: ownerOfReport,
    start: beginReport,
  },
};

/** Throws 422 for a payload that the kind does not take. */
export function checkPayload(kind: ScheduleKind, payload: unknown): Payload {
  const first = Value.Errors(kinds[kind].payload, payload).First();
  if (first === undefined) return payload as Payload;
  const members = Object.keys(kinds[kind].payload.properties).join(' and ');
  throw unfit(`/payload${first.path}`, 'does not fit', `a schedule of the kind ${kind} takes ${members}`);
}
