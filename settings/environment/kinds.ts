// What values of each kind have to look like. Two voices tell what is wrong. `refuse` is that of the commands, which
// look at every variable whatever they are about to do; so it is silent about what only the control plane reads: a
// wrong e-mail address must not keep `compile` from compiling. `demand` is the control plane's, which looks at all it
// reads.
import { redisUrlProblem } from './redis.js';

/** Completes a sentence that begins with the variable's name; null = the value fits. */
type Check = (value: string) => string | null;

export interface Kind {
  readonly refuse: Check;
  readonly demand: Check;
}

const anything: Check = () => null;
const demandOf = (fits: (value: string) => boolean, demand: string): Kind => ({
  refuse: anything,
  demand: (value) => (fits(value) ? null : demand),
});

const isPort = (value: string, min: number): boolean =>
  /^\d{1,5}$/.test(value) && Number(value) >= min && Number(value) <= 65_535;
const isCount = (value: string): boolean => /^\d{1,3}$/.test(value) && Number(value) >= 1;
const protocolOf = (value: string): string | null => (URL.canParse(value) ? new URL(value).protocol : null);
const isWebUrl = (value: string): boolean => ['http:', 'https:'].includes(protocolOf(value) ?? '');

const demandWebUrl: Check = (value) => {
  if (protocolOf(value) === null) return 'must be a URL';
  return isWebUrl(value) ? null : 'must be an http or https URL';
};

const demandWebUrls: Check = (value) =>
  value
    .split(',')
    .map((part) => demandWebUrl(part.trim()))
    .find((problem) => problem !== null) ?? null;

const oneOf = (...allowed: readonly string[]): Kind => ({
  refuse: (value) => (allowed.includes(value) ? null : `is none of ${allowed.join(', ')}`),
  demand: (value) => (allowed.includes(value) ? null : `must be one of ${allowed.join(', ')}`),
});
const onlyDemanded = ({ demand }: Kind): Kind => ({ refuse: anything, demand });

const urlOf = (...protocols: readonly string[]): Kind =>
  demandOf(
    (value) => protocols.includes(protocolOf(value) ?? '') && !new URL(value).hostname.includes(','),
    `must be a URL of one server beginning with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
  );

/** Of a URL that names several servers, which is none by the standard, one URL each. Source: libpq, connection URIs. */
function urlsOfHosts(value: string): string[] {
  const [, before = '', hosts = '', after = ''] = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/is.exec(value) ?? [];
  return before === '' ? [value] : hosts.split(',').map((host) => `${before}${host}${after}`);
}

const tooShort =
  (min: number, words: (min: number) => string): Check =>
  (value) =>
    value.length >= min ? null : words(min);

export const kinds = {
  text: { refuse: anything, demand: anything },
  /** An address to listen on. */
  address: { refuse: anything, demand: anything },
  /** A file or directory; a relative one is looked for from the root of the checkout. */
  path: { refuse: anything, demand: anything },
  /** Separated by commas. */
  list: { refuse: anything, demand: anything },
  /** 0, any free one, is for the tests of the control plane: nobody could find the other parts there. */
  port: {
    refuse: (value) => (isPort(value, 1) ? null : 'is not a port number from 1 to 65535'),
    demand: (value) => (isPort(value, 0) ? null : 'must be a port number from 0 to 65535'),
  },
  count: {
    refuse: (value) => (isCount(value) ? null : 'is not a whole number from 1 to 999'),
    demand: (value) => (isCount(value) ? null : 'must be a whole number from 1 to 999'),
  },
  url: {
    refuse: (value) => (isWebUrl(value) ? null : 'is not an http:// or https:// URL'),
    demand: demandWebUrl,
  },
  urls: {
    refuse: anything,
    demand: demandWebUrls,
  },
  /** The same, or the word that there is none. */
  urlsOrNone: {
    refuse: anything,
    demand: (value) => (value === 'none' ? null : demandWebUrls(value)),
  },
  /** Possibly typed by a person. */
  secret: { refuse: tooShort(8, (min) => `is shorter than ${min} characters`), demand: anything },
  /** Random bytes that nobody types. */
  key: {
    refuse: tooShort(32, (min) => `is shorter than ${min} characters`),
    demand: tooShort(32, (min) => `must have at least ${min} characters`),
  },
  listener: oneOf('auto', 'net', 'uws', 'node'),
  switch: oneOf('on', 'off'),
  flag: onlyDemanded(oneOf('0', '1')),
  logLevel: onlyDemanded(oneOf('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent')),
  email: demandOf((value) => /^[^\s@]+@[^\s@]+$/.test(value), 'must be an e-mail address'),
  postgresUrl: demandOf(
    (value) => urlsOfHosts(value).every((url) => ['postgres:', 'postgresql:'].includes(protocolOf(url) ?? '')),
    'must be a URL beginning with postgres:// or postgresql://, with one server or several (a:5432,b:5432)',
  ),
  postgresUrlOfOne: urlOf('postgres:', 'postgresql:'),
  redisUrl: { refuse: anything, demand: redisUrlProblem },
  redisPrefix: demandOf(
    (value) => /^[A-Za-z0-9:._-]{1,64}$/.test(value),
    'must be 1 to 64 letters, digits, colons, dots, underscores or hyphens',
  ),
} as const satisfies Readonly<Record<string, Kind>>;
