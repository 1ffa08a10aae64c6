// One call to a tracker: what it answers as JSON, or why it cannot be had, as one of four kinds. Nothing of the secret
// is in a message, whatever a server sends back.
import { ApiError } from '#http-kit';
import type { WayOut } from '../../host.js';
import { retryAfterMs } from '../../kit/outgoing.js';
import { obj, str } from '../../imports/normalize.js';
import { maskSecrets } from '../../secrets/mask.js';

/**
 * setup: nothing works until somebody changes something (credentials, rights, address). later: the tracker is away or
 * asks for time. refused: it does not take this ticket. missing: the ticket, or what it belongs to, is not there.
 */
export type Trouble = 'setup' | 'later' | 'refused' | 'missing';

export class TrackerError extends Error {
  readonly trouble: Trouble;
  /** How long it wants to be left alone; null: it does not say. */
  readonly waitMs: number | null;
  constructor(trouble: Trouble, message: string, waitMs: number | null = null) {
    super(message);
    this.name = 'TrackerError';
    this.trouble = trouble;
    this.waitMs = waitMs;
  }
}

export interface Asked {
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const answerMsMax = 10_000;
const bytesMax = 4 * 1024 * 1024;
const toldMax = 400;
/** Nobody is believed who wants to be left alone for longer. */
const waitMsMax = 86_400_000;

/** Milliseconds that the answer asks for: `Retry-After`, or GitHub's moment of reset. */
function waitOf(headers: Readonly<Record<string, string>>, nowMs: number): number | null {
  const after = headers['retry-after'];
  if (after !== undefined) return retryAfterMs(after, nowMs, waitMsMax);
  if (headers['x-ratelimit-remaining'] !== '0') return null;
  const reset = Number(headers['x-ratelimit-reset']) * 1000 - nowMs;
  return Number.isFinite(reset) ? Math.min(Math.max(reset, 1000), waitMsMax) : null;
}

const saidMax = 10;

/** Texts of what an answer says is wrong: the shapes of Jira, GitHub, GitLab and ServiceNow. */
function saidIn(value: unknown, name = '', depth = 0): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [name === '' ? value : `${name}: ${value}`];
  if (depth > 3) return [];
  if (Array.isArray(value)) return value.slice(0, saidMax).flatMap((one) => saidIn(one, name, depth + 1));
  const { field, code, message, detail, ...others } = obj(value);
  if (field !== undefined && code !== undefined) return [`${str(field)}: ${str(code)}`];
  if (message !== undefined) return [[str(message), str(detail)].filter((one) => one !== '').join(': ')];
  return Object.entries(others)
    .slice(0, saidMax)
    .flatMap(([key, inner]) => saidIn(inner, key, depth + 1));
}

function complaintOf(json: unknown): string {
  const { errorMessages, errors, message, error, error_description: described } = obj(json);
  return [errorMessages, message, errors, error, described].flatMap((one) => saidIn(one)).join('; ');
}

export class Asker {
  private readonly way: WayOut;
  private readonly base: string;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly hidden: readonly string[];
  readonly now: () => number;
  constructor(
    way: WayOut,
    base: string,
    {
      headers = {},
      hidden,
      now,
    }: { headers?: Readonly<Record<string, string>>; hidden: readonly string[]; now: () => number },
  ) {
    [this.way, this.base, this.headers, this.hidden, this.now] = [way, base, headers, hidden, now];
  }

  /** With headers in every request; what they carry of credentials is in no message. */
  with(headers: Readonly<Record<string, string>>, ...hidden: readonly string[]): Asker {
    const { now } = this;
    return new Asker(this.way, this.base, {
      headers: { ...this.headers, ...headers },
      hidden: [...this.hidden, ...hidden],
      now,
    });
  }

  /** `path` stands behind the base. The JSON of an answer below 300; null: it has no body. Throws TrackerError. */
  async ask(method: 'GET' | 'POST' | 'PUT' | 'PATCH', path: string, asked: Asked = {}): Promise<unknown> {
    const query = new URLSearchParams(asked.query).toString();
    const base = path === '' ? this.base : this.base.replace(/\/+$/, '');
    const url = `${base}${path}${query === '' ? '' : `?${query}`}`;
    const host = new URL(url).host;
    let reply: Awaited<ReturnType<WayOut['send']>>;
    try {
      reply = await this.way.send(url, {
        method,
        headers: {
          accept: 'application/json',
          ...(asked.body === undefined ? {} : { 'content-type': 'application/json' }),
          ...this.headers,
          ...asked.headers,
        },
        ...(asked.body === undefined
          ? {}
          : { body: typeof asked.body === 'string' ? asked.body : JSON.stringify(asked.body) }),
        bytesMax,
        timeoutMs: answerMsMax,
      });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      throw new TrackerError(error.code === 'outbound_refused' ? 'setup' : 'later', this.told(error.message));
    }
    return this.read(reply, `${host} answers ${method} ${new URL(url).pathname} with ${reply.status}`);
  }

  private read({ status, headers, body }: Awaited<ReturnType<WayOut['send']>>, said: string): unknown {
    const text = body.toString('utf8');
    const json = parse(text);
    const complaint = complaintOf(json);
    const fail = (trouble: Trouble, fix: string, waitMs: number | null = null): never => {
      throw new TrackerError(trouble, this.told(`${said}${complaint === '' ? '' : `: ${complaint}`}. ${fix}`), waitMs);
    };
    if (status >= 300 && status < 400)
      fail('setup', 'It leads somewhere else, which is not followed: name that address in the integration.');
    const wait = waitOf(headers, this.now());
    if (status === 429 || (status === 403 && wait !== null)) fail('later', 'It wants to be asked less often.', wait);
    if (status === 401) fail('setup', 'It does not accept the credentials: give a secret that is valid.');
    if (status === 403)
      fail('setup', 'The account may not do that: give it the rights that docs/integrations.md names.');
    if (status === 404 || status === 410)
      fail('missing', 'There is none, or the account may not see it: check names and rights.');
    if (status >= 500 || status === 408) fail('later', 'It is asked again.', wait);
    if (status >= 400) fail('refused', 'Change the fields of the integration or the finding, and ask again.');
    if (text.trim() === '') return null;
    if (json === undefined)
      fail(
        'later',
        `${isHtml(text) ? 'That is a page and no' : 'That is no'} JSON: is the address the one of the API?`,
      );
    return json;
  }

  /** Never the secret, not much, and on one line. */
  private told(text: string): string {
    const forms = this.hidden.flatMap((one) => [one, Buffer.from(one).toString('base64'), encodeURIComponent(one)]);
    const without = forms.reduce((all, form) => (form.length < 4 ? all : all.replaceAll(form, '***')), text);
    return maskSecrets(without.replace(/\s+/g, ' ')).slice(0, toldMax);
  }
}

const isHtml = (text: string): boolean => /^\s*<(?:!doctype|html)/i.test(text);

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** A text of an answer; throws for an answer without it, which is no answer of this API. */
export function need(value: unknown, what: string): string {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number') return String(value);
  throw new TrackerError('later', `The answer has no ${what}: is the address the one of the API?`);
}
