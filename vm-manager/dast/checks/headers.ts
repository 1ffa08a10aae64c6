// Values that reach the head of an answer, and headers of the request that an answer believes.
import { attributeOf, elementsOf, refreshOf } from '../crawl/html.js';
import type { Exchange, Proof } from '../model.js';
import { always, everywhere, isHtml, proveBy, word, type Attack, type Check, type Probe } from './check.js';

const leadsTo = ({ headers, body, request }: Exchange, host: string): boolean => {
  const places: (string | null | undefined)[] = [
    headers['location'],
    /url\s*=\s*(.+)$/i.exec(headers['refresh'] ?? '')?.[1],
  ];
  if (/html/i.test(headers['content-type'] ?? '')) places.push(...elementsOf(body.slice(0, 50_000)).map(refreshOf));
  return places.some((place) => {
    // browsers read a backslash as a slash here
    const text = place?.trim().replaceAll('\\', '/');
    return (
      text !== undefined &&
      text !== '' &&
      URL.canParse(text, request.url) &&
      new URL(text, request.url).hostname === host
    );
  });
};

const redirects: readonly ((host: string, own: string) => string)[] = [
  (host) => `https://${host}/`,
  (host) => `//${host}/`,
  (host) => `/\\${host}/`,
  (host, own) => `https://${host}/?${own}`,
];

async function openRedirect(probe: Probe): Promise<Proof | null> {
  const own = new URL(probe.parts.origin).host;
  const makers = redirects.map((text) => (): Attack => {
    const host = `${word(8)}.example`;
    return { attack: text(host, own), neutral: `/${host}`, shows: (exchange) => leadsTo(exchange, host) };
  });
  return proveBy(probe, makers, 'The answer leads to a host that the value names.');
}

async function splitting(probe: Probe): Promise<Proof | null> {
  const makers = ['\r\n', '\n', '\u560d\u560a'].map((end) => (): Attack => {
    const name = `x-${word(8)}`;
    return {
      attack: `${word(4)}${end}${name}: 1`,
      neutral: `${word(4)} ${name}: 1`,
      shows: ({ headers }) => headers[name] !== undefined,
    };
  });
  return proveBy(probe, makers, 'The value makes a header of its own in the answer.');
}

const allows = ({ headers }: Exchange, origin: string): boolean =>
  headers['access-control-allow-origin'] === origin && headers['access-control-allow-credentials'] === 'true';

async function cors(probe: Probe): Promise<Proof | null> {
  if (probe.form.method !== 'GET') return probe.leaveOut();
  const host = new URL(probe.parts.origin).hostname;
  const origins: readonly (() => string)[] = [
    () => `https://${word(8)}.example`,
    () => 'null',
    () => `https://${host}.${word(8)}.example`,
    () => `https://${word(8)}${host}`,
  ];
  for (const make of origins) {
    const origin = make();
    const first = await probe.send({}, { headers: { origin } });
    if (first === null || !allows(first, origin)) continue;
    const other = make();
    const again = await probe.send({}, { headers: { origin: other } });
    const neutral = await probe.baseline();
    if (again === null || !allows(again, other) || (neutral !== null && allows(neutral, other))) continue;
    return { attack: other, exchange: again, neutral, why: `Answers with credentials may be read by ${other}.` };
  }
  return null;
}

const namesHost = (exchange: Exchange, host: string): boolean => {
  if (leadsTo(exchange, host)) return true;
  if (!isHtml(exchange)) return false;
  return elementsOf(exchange.body).some((one) =>
    ['href', 'src', 'action', 'content'].some((name) => {
      const text = attributeOf(one, name);
      return text !== null && /^(?:https?:)?\/\//.test(text) && text.replace(/^(?:https?:)?\/\//, '').startsWith(host);
    }),
  );
};

async function hostHeader(probe: Probe): Promise<Proof | null> {
  if (probe.form.method !== 'GET') return probe.leaveOut();
  for (const header of ['x-forwarded-host', 'x-host', 'forwarded']) {
    const valueOf = (host: string): string => (header === 'forwarded' ? `host=${host}` : host);
    const host = `${word(8)}.example`;
    const first = await probe.send({}, { headers: { [header]: valueOf(host) } });
    if (first === null || !namesHost(first, host)) continue;
    const other = `${word(8)}.example`;
    const again = await probe.send({}, { headers: { [header]: valueOf(other) } });
    if (again === null || !namesHost(again, other)) continue;
    const neutral = await probe.baseline();
    return {
      attack: `${header}: ${valueOf(other)}`,
      exchange: again,
      neutral,
      why: 'The answer names a host of the request.',
    };
  }
  return null;
}

export const headerChecks: readonly Check[] = [
  {
    id: 'open-redirect',
    title: 'Open redirect',
    severity: 'medium',
    cwe: 601,
    on: 'param',
    profiles: everywhere,
    description: 'The answer leads to any host that the request names.',
    remediation: 'Redirect to paths of this site only, or to a list of hosts.',
    prove: openRedirect,
  },
  {
    id: 'header-injection',
    title: 'Header injection (CRLF)',
    severity: 'medium',
    cwe: 113,
    on: 'param',
    profiles: everywhere,
    description: 'A value from the request ends a header of the answer and begins another one.',
    remediation: 'Refuse line ends in values of headers.',
    prove: splitting,
  },
  {
    id: 'cors',
    title: 'Every origin may read answers with credentials',
    severity: 'high',
    cwe: 942,
    on: 'form',
    profiles: always,
    description: 'The answer allows the origin of the request, whatever it is, together with credentials.',
    remediation:
      'Compare the origin with a list, exactly; never allow "null"; no credentials where they are not needed.',
    prove: cors,
  },
  {
    id: 'host-header',
    title: 'The answer believes a host of the request',
    severity: 'medium',
    cwe: 644,
    on: 'form',
    profiles: everywhere,
    description:
      'Links of the answer are made of a header that any client can set: a cache or an e-mail carries them on.',
    remediation: 'Make absolute addresses of a configured name; take X-Forwarded-Host from known proxies only.',
    prove: hostHeader,
  },
];
