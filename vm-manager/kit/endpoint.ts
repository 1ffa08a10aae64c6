// An endpoint as data: what a route is called, who may call it, what it takes and gives. Routes, the OpenAPI document,
// the explorer and the permission test are all made from these rows; nothing else registers a route.
import { ApiError } from '#http-kit';
import { Type, type Static, type TObject, type TSchema } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Sql, Tx } from '../database.js';
import type { Host, VmAction } from '../host.js';
import type { Caller, Reach } from './caller.js';
import type { VmPermission } from './permissions.js';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** C plain resource, S state change, I import, R run, A aggregate, X export, B of its own kind. */
export type EndpointKind = 'C' | 'S' | 'I' | 'R' | 'A' | 'X' | 'B';

/** What an endpoint's function is given. */
export interface Call<Params = Record<string, string>, Query = unknown, Body = unknown> {
  readonly host: Host;
  readonly sql: Sql;
  readonly now: Date;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Throws on public endpoints, which have none. */
  readonly caller: Caller;
  /** Of the endpoint's permission. */
  readonly reach: Reach;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** Runs `work` in a transaction and writes the audit entry in it. */
  audited<T>(
    action: VmAction,
    summary: string | ((made: T) => string),
    work: (tx: Tx) => Promise<T>,
    details?: (made: T) => unknown,
  ): Promise<T>;
}

/** What work needs that is done for somebody, by a request or by the clock. */
export type Acting = Pick<Call, 'host' | 'sql' | 'now' | 'caller' | 'reach' | 'audited'>;

export interface Endpoint {
  readonly method: Method;
  /** Below /api/v1, with `:name` for parameters. */
  readonly path: string;
  /** `self`: whoever is logged in. */
  readonly permission: VmPermission | 'self' | 'public';
  readonly kind: EndpointKind;
  readonly summary: string;
  /**
   * What it is about, in the plural, where that belongs to the whole organisation: who reaches a part of it only, by
   * grants or by the token, gets 403.
   */
  readonly ofOrganisation?: string;
  /** A write of `self` for tokens of every scope but `read`: of the token itself. Others are for authors. */
  readonly anyScope?: boolean;
  /** Only for people who are logged in: a token that leaks must not outlive itself by it. */
  readonly inPerson?: boolean;
  /** Callable while a password change or an enrolment is due, which it fulfils. */
  readonly whileDutyIsDue?: boolean;
  /** A POST that only reads: tokens with the scope `read` may call it. */
  readonly reads?: boolean;
  /**
   * It reads much, through `sql` alone, and remembers nothing by that: a replica may answer where the server has one
   * (kit/replicas/replica.ts).
   */
  readonly fromReplica?: boolean;
  readonly query?: TObject;
  readonly body?: TSchema;
  /** The body is a stream of bytes, with its own limit; see kit/upload/receive.ts. */
  readonly upload?: { readonly bytesMax: number; readonly fields: TObject };
  /** The function needs the bytes of the JSON body, too (kit/upload/raw-body.ts). */
  readonly raw?: { readonly bytesMax: number };
  readonly status?: number;
  readonly answer?: TSchema;
  /** Of what is not JSON. */
  readonly mediaType?: string;
  readonly config?: (host: Host) => Readonly<Record<string, unknown>>;
  readonly handle: (call: Call) => Promise<unknown>;
}

type Typed<Q extends TObject | undefined, B extends TSchema | undefined> = Omit<
  Endpoint,
  'query' | 'body' | 'handle'
> & {
  readonly query?: Q;
  readonly body?: B;
  readonly handle: (
    call: Call<
      Record<string, string>,
      Q extends TObject ? Static<Q> : unknown,
      B extends TSchema ? Static<B> : unknown
    >,
  ) => Promise<unknown>;
};

/** Keeps the types of query and body while the row is written; the row itself is an `Endpoint`. */
export function endpoint<Q extends TObject | undefined = undefined, B extends TSchema | undefined = undefined>(
  row: Typed<Q, B>,
): Endpoint {
  return row as unknown as Endpoint;
}

/** Whether a request for it changes something. */
export const writes = ({ method, reads }: Pick<Endpoint, 'method' | 'reads'>): boolean =>
  method !== 'GET' && reads !== true;

/** A moment in a body: UTC, such as 2027-01-31T12:00:00Z. */
export const When = Type.String({
  maxLength: 40,
  pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d+)?)?(Z|[+-]\\d{2}:\\d{2})$',
  description: 'UTC, such as 2027-01-31T12:00:00Z',
});

/**
 * The moment that a text names: `When`, or a day, which begins in UTC. Throws 422 with `path` for anything else: a day
 * that no calendar has (30 February), which JavaScript would move, and a time of nobody knows which zone.
 */
export function toMoment(text: string, path: string): Date {
  const [, year = '', month = '', day = ''] = /^(\d{4})-(\d{2})-(\d{2})(?:T.*(?:Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [];
  const at = new Date(text);
  const last = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month), 0)).getUTCDate();
  if (Number(year) < 1 || Number.isNaN(at.getTime()) || Number(day) > last)
    throw unfit(path, 'is no moment', 'write UTC such as 2027-01-31T12:00:00Z');
  return at;
}

/** An id of a path or body: a decimal string, as JSON carries it. */
export function toId(text: string, what: string): string {
  if (/^[1-9]\d{0,17}$/.test(text)) return text;
  throw new ApiError('not_found', `There is no ${what} ${text.slice(0, 60)}.`);
}

export const notFound = (what: string, id: string): ApiError => new ApiError('not_found', `There is no ${what} ${id}.`);

/** Something given does not fit; `path` is a JSON pointer into the body, or a parameter's name. */
export const unfit = (path: string, reason: string, fix?: string): ApiError =>
  new ApiError('unfit', `${path} ${reason}${fix === undefined ? '' : `: ${fix}`}.`, {
    errors: [{ path, reason, ...(fix === undefined ? {} : { fix }) }],
  });
