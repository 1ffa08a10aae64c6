// The one module that talks to the control plane, the vulnerability manager in it, and knows their addresses. Types
// come from the OpenAPI documents (console/generated, made at each bundle), so that a route that changes is a type
// error here.
import { createSignal } from 'solid-js';
import type { Routes } from '../../generated/api.js';
import { clientText as words } from '../texts/client.js';
import { patiently } from './waiting.js';

export type Route = keyof Routes;
export type Reply<R extends Route> = Routes[R]['reply'];
export type Query<R extends Route> = NonNullable<Routes[R]['query']>;
export type Params<R extends Route> = Routes[R]['params'];
export type Body<R extends Route> = Routes[R]['body'];
/** One entry of a list. */
export type Item<R extends Route> = Reply<R> extends { items: (infer One)[] } ? One : never;

export interface FieldProblem {
  readonly path: string;
  readonly reason: string;
  readonly fix?: string;
}

export interface Diagnostic {
  readonly severity: string;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly line?: number;
  readonly column?: number;
  readonly excerpt?: string;
  readonly path?: string | null;
}

/** What the control plane refused, as its problem document says it; status 0: it did not answer at all. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly errors: readonly FieldProblem[] = [],
    readonly diagnostics: readonly Diagnostic[] = [],
    readonly etag: string | null = null,
  ) {
    super(message);
    this.name = 'Refused';
  }
}

interface CallOptions<R extends Route> {
  readonly params?: Routes[R]['params'];
  readonly query?: Routes[R]['query'];
  readonly body?: Routes[R]['body'];
  /** In place of a body: fields and a file, sent as multipart/form-data. */
  readonly form?: FormData;
  readonly ifMatch?: string | null;
  readonly signal?: AbortSignal;
}

export interface Answer<R extends Route> {
  readonly data: Reply<R>;
  readonly etag: string | null;
}

const [isSessionLost, setSessionLost] = createSignal(false);
/** The session ended while a page was open: the shell asks for a login above it, and what was typed stays. */
export { isSessionLost };
let showNotice: (text: string) => void = () => undefined;
/** Where notices of answers that succeeded are shown, such as a check that was not possible. */
export const showNoticesBy = (show: (text: string) => void): void => void (showNotice = show);
export const sessionIsBack = (): void => void setSessionLost(false);

const [written, setWritten] = createSignal(0);
/** Changes whenever something may have been changed from here: what shows states of the whole reads them again. */
export { written };

const codesOfDuty = new Set(['password_change_required', 'totp_enrolment_required']);
/** What was typed to confirm something is wrong, beside a session that is as good as before. */
const codesOfCredentials = new Set(['bad_credentials', 'bad_otp']);
const publicRoutes = new Set([
  'POST /api/login',
  'POST /api/login/otp',
  'GET /api/account',
  'POST /api/demo',
  'POST /api/shared-event',
]);

/** Of a query: what is no plain value is JSON. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function addressOf(path: string, params: unknown, query: unknown): string {
  const given = (params ?? {}) as Readonly<Record<string, string | number>>;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(given[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries((query ?? {}) as Readonly<Record<string, unknown>>))
    if (value !== undefined && value !== null && value !== '') search.set(name, textOf(value));
  const text = search.toString();
  return text === '' ? filled : `${filled}?${text}`;
}

interface ProblemDocument {
  readonly title?: string;
  readonly detail?: string;
  readonly code?: string;
  readonly errors?: readonly FieldProblem[];
  readonly diagnostics?: readonly Diagnostic[];
}

async function refusalOf(response: Response): Promise<Refused> {
  const document = (await response.json().catch(() => ({}))) as ProblemDocument;
  const { title, detail, code = '', errors = [], diagnostics = [] } = document;
  const message = detail ?? title ?? (response.status >= 500 ? words.failedOnly : words.refusedOnly)(response.status);
  return new Refused(response.status, code, message, errors, diagnostics, response.headers.get('etag'));
}

/** Throws Refused. */
export async function ask<R extends Route>(route: R, options: CallOptions<R> = {}): Promise<Answer<R>> {
  const [method = 'GET', path = ''] = route.split(' ');
  const headers: Record<string, string> = { accept: 'application/json' };
  if (method !== 'GET') headers['x-gatehouse-request'] = '1';
  if (options.body !== undefined) headers['content-type'] = 'application/json';
  if (options.ifMatch != null) headers['if-match'] = options.ifMatch;
  const body = options.form ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const address = addressOf(path, options.params, options.query);
  const init: RequestInit = { method, headers, credentials: 'same-origin', ...(body === undefined ? {} : { body }) };
  return patiently((signal) => answerTo(route, address, { ...init, signal }), method === 'GET', options.signal);
}

/** Throws Refused, and what ends a question that its signal ended. */
async function answerTo<R extends Route>(route: R, address: string, init: RequestInit): Promise<Answer<R>> {
  const response = await fetch(address, init).catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Refused(0, 'unreachable', words.consoleSServerDoes);
  });
  if (!response.ok) {
    const refused = await refusalOf(response);
    const isOfSession = !publicRoutes.has(route) && !codesOfCredentials.has(refused.code);
    if (refused.status === 401 && isOfSession) setSessionLost(true);
    if (codesOfDuty.has(refused.code)) setSessionLost(true);
    throw refused;
  }
  const notice = response.headers.get('x-gatehouse-notice');
  if (notice !== null) showNotice(notice);
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  const data = (isJson ? await response.json() : null) as Reply<R>;
  if (init.method !== 'GET' && !publicRoutes.has(route)) setWritten((count) => count + 1);
  return { data, etag: response.headers.get('etag') };
}

/** What most callers want: the data alone. */
export async function call<R extends Route>(route: R, options: CallOptions<R> = {}): Promise<Reply<R>> {
  return (await ask(route, options)).data;
}

/** Where a download or a stream is. */
export const linkTo = <R extends Route>(route: R, query?: Routes[R]['query'], params?: Routes[R]['params']): string =>
  addressOf(route.slice(route.indexOf(' ') + 1), params, query);
