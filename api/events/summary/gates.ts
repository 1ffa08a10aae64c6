// What gates, schemas and GraphQL limits decided, in words. Their messages name a rule number that no rule set has, and
// their data hold numbers as `name=value`.
import type { StoredMessage } from './message.js';

/** `zone=login limit=10 window_seconds=60`. */
function numbersOf(data: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    data
      .split(' ')
      .map((part) => part.split('='))
      .flatMap(([name, value]) => (name !== undefined && value !== undefined ? [[name, value]] : [])),
  );
}

const between = (text: string, from: string, to: string): string | null => {
  const at = text.indexOf(from);
  if (at < 0) return null;
  const end = text.indexOf(to, at + from.length);
  return end < 0 ? null : text.slice(at + from.length, end);
};

const seconds = (text: string | undefined): string => {
  const count = Number(text);
  if (!Number.isFinite(count)) return '';
  if (count >= 7200 && count % 3600 === 0) return `${count / 3600} h`;
  return count >= 120 && count % 60 === 0 ? `${count / 60} min` : `${count} s`;
};

/** The words before the value, and the value: `Rate limit exceeded` and `login: 10 requests in 60 s`. */
export interface GateWords {
  readonly what: string;
  readonly value: string | null;
}

function limitWords(what: string, { match, data }: StoredMessage): GateWords {
  const { zone, limit, window_seconds: window } = numbersOf(data);
  const name = zone ?? between(match, 'Matched the limit ', ' against');
  const most = limit === undefined ? '' : `${limit} requests in ${seconds(window)}`;
  const value = [name, most].filter((part) => part != null && part !== '').join(': ');
  return { what, value: value === '' ? null : value };
}

const address = ({ data }: StoredMessage): string | null => data.split(' ')[0] || null;

function banWords(message: StoredMessage): GateWords {
  const { seconds_left: left, ban_seconds: span, zone, limited } = numbersOf(message.data);
  if (span !== undefined) {
    const why = zone === undefined ? '' : ` after ${limited ?? 'several'} limited requests in \`${zone}\``;
    return { what: `Client banned for ${seconds(span)}${why}`, value: address(message) };
  }
  return { what: `Client is banned${left === undefined ? '' : `, ${seconds(left)} left`}`, value: address(message) };
}

function schemaWords(what: string, { match, data }: StoredMessage): GateWords {
  const specification = between(match, 'Matched the specification `', "'");
  const operation = between(match, 'against `', "'");
  const of = [operation, specification === null ? null : `specification ${specification}`].filter(Boolean).join(', ');
  return { what: of === '' ? what : `${what} (${of})`, value: data === '' ? null : data };
}

const rules: Readonly<Record<number, (message: StoredMessage) => GateWords>> = {
  1_006_000: (one) => ({ what: 'Client address is on the deny list', value: address(one) }),
  1_006_001: ({ data }) => ({ what: 'User or key has a verdict of the detection engine', value: data || null }),
  1_006_100: (one) => limitWords('Flood limit exceeded', one),
  1_006_101: (one) => limitWords('Rate limit exceeded', one),
  1_006_102: (one) => limitWords('Endpoint limit exceeded', one),
  1_006_103: (one) => limitWords('Attack-mode limit exceeded', one),
  1_006_104: (one) => limitWords('Slowed down by the detection engine', one),
  1_006_200: banWords,
  1_006_201: (one) => ({ what: 'Not banned: many clients share the address', value: address(one) }),
  1_006_210: ({ match }) => ({
    what: 'Request repeats one that crashed a worker',
    value: between(match, '(Value: `', "')"),
  }),
  1_006_300: (one) => ({ what: 'Challenge required', value: address(one) }),
  1_006_400: ({ data }) => {
    const { score, threshold, agent } = numbersOf(data);
    const points = score === undefined ? '' : `: bot score ${score}, limit ${threshold ?? 'unknown'}`;
    return { what: `Automated client${points}`, value: agent ?? (data.split(' ')[0] || null) };
  },
  1_006_401: (one) => ({ what: 'Client claims to be a crawler that it is not', value: address(one) }),
  1_006_402: ({ data }) => ({ what: 'TLS fingerprint is on the block list', value: data || null }),
  1_006_500: (one) => schemaWords('Request does not match the API specification', one),
  1_006_501: (one) => schemaWords('Response does not match the API specification', one),
  1_006_502: (one) => schemaWords('Path is not declared in the API specification', { ...one, data: '' }),
  1_006_510: ({ data }) => ({ what: 'GraphQL introspection', value: data || null }),
  1_006_511: ({ data }) => ({ what: 'GraphQL limit exceeded', value: data || null }),
  1_006_512: ({ data }) => ({ what: 'GraphQL request too large to inspect', value: data || null }),
  1_006_610: ({ data, match }) => {
    const signs = numbersOf(data)['signs'] ?? '';
    const found = [...new Set(signs.split(',').filter((one) => one !== ''))].join(', ');
    return { what: `Signs of an attack${found === '' ? '' : ` (${found})`} that no rule scores`, value: match || null };
  },
};

/** null: a rule of a rule set. */
export function gateWords(message: StoredMessage): GateWords | null {
  const known = rules[message.rule_id];
  if (known !== undefined) return known(message);
  if (message.tags.includes('gatehouse/site-auth'))
    return { what: 'Protected path without valid credentials', value: message.data || null };
  return message.file === '' && message.match.startsWith('Matched the ')
    ? { what: message.message || `Gate rule ${message.rule_id}`, value: message.data || null }
    : null;
}
