// Scanners of web applications: Burp Suite (XML) and Nikto (JSON).
import { unfit } from '../../../kit/endpoint.js';
import { cwesOf, list, obj, plainText, pos, str, vulnIdsOf, type Json } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item } from '../../record.js';
import { readJson } from '../../reading/report-file.js';
import { childText, childrenOf, readXml, type Element } from '../../reading/xml.js';
import { siteOf } from '../../run/looked-at.js';
import { readSeverity } from '../../severity/read.js';
import type { Format } from '../format.js';

/** `/search [q parameter]`, `/a [JSON parameter id]`, `/b [Referer HTTP header]`. */
function placeOf(location: string): { path: string; param?: string; matcher?: string } {
  const [, path = location, what = ''] = /^(\S*)\s+\[(.{1,200})\]$/s.exec(location.trim()) ?? [];
  const named =
    /^(.+?) (?:parameter|cookie|HTTP header)$/.exec(what)?.[1] ?? /parameter (.+?)(?: within .*)?$/.exec(what)?.[1];
  // a part of the path, say: two of one path are two findings
  return { path, ...(named !== undefined ? { param: named } : what === '' ? {} : { matcher: what }) };
}

/** How sure it is of an issue, in its own words. */
const certainty = new Map([
  ['Certain', 0.95],
  ['Firm', 0.8],
  ['Tentative', 0.6],
]);

const decodedOf = (element: Element | undefined): string =>
  element === undefined
    ? ''
    : element.attributes['base64'] === 'true'
      ? Buffer.from(element.text.slice(0, 40_000), 'base64').toString('utf8')
      : element.text;

function burpIssue(issue: Element): Item {
  const [host] = childrenOf(issue, 'host');
  const origin = host?.text.trim() ?? '';
  const [type, name] = [childText(issue, 'type'), childText(issue, 'name')];
  if (name === '' || origin === '') return unread('has no name or no host', childText(issue, 'serialNumber'));
  const severity = childText(issue, 'severity');
  if (/^false positive$/i.test(severity)) return noFinding('is a false positive', `${origin}: ${name}`);
  const { path, ...place } = placeOf(childText(issue, 'location') || childText(issue, 'path'));
  const [exchange] = childrenOf(issue, 'requestresponse');
  const [request] = childrenOf(exchange, 'request');
  const method = request?.attributes['method'] ?? /^[A-Z]{3,10}(?= )/.exec(decodedOf(request))?.[0];
  const shown = [
    ['detail', plainText(childText(issue, 'issueDetail'))],
    ['request', decodedOf(request)],
    ['response', decodedOf(childrenOf(exchange, 'response')[0])],
  ].filter(([, text]) => text !== '');
  const solution = [childText(issue, 'remediationDetail'), childText(issue, 'remediationBackground')];
  return record({
    title: name,
    description: plainText(childText(issue, 'issueBackground')),
    ...readSeverity(severity),
    cwes: cwesOf(childText(issue, 'vulnerabilityClassifications').split(/<li>/i, 50)),
    vulnIds: vulnIdsOf([name, childText(issue, 'issueDetail')]),
    source: 'dast',
    ruleId: type === '' ? name : `burp-${type}`,
    location: {
      kind: 'web',
      url: `${origin}${path.startsWith('/') ? '' : '/'}${path}`,
      ...(method === undefined ? {} : { method }),
      ...place,
    },
    fix: { state: 'unknown', text: solution.map(plainText).filter(Boolean).join('\n\n') },
    references: [...childText(issue, 'references').matchAll(/href="(https?:\/\/[^"]{1,500})"/g)].map(
      ([, link = '']) => link,
    ),
    evidence:
      shown.length === 0 ? [] : [Object.fromEntries(shown.map(([key, text = '']) => [key, text.slice(0, 4000)]))],
    quality: certainty.get(childText(issue, 'confidence')) ?? 0.7,
  });
}

export const burp: Format = {
  name: 'burp',
  label: 'Burp Suite XML',
  detection: '<issues burpVersion="…">',
  detect: (beginning) => /<issues\s[^>]{0,200}burpVersion=/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Burp Suite';
    const names = new Set<string>();
    facts.looked = { by: 'site', names, isOfResults: true };
    let isReport = false;
    const [wanted, shown] = [
      ['issue', 'issues'],
      ['request', 'response'],
    ];
    for await (const [element] of readXml(file, (name) => wanted.includes(name), ['issues'], shown)) {
      if (element.name === 'issues') {
        isReport = true;
        facts.version = element.attributes['burpVersion'] ?? '';
        continue;
      }
      const site = siteOf(childrenOf(element, 'host')[0]?.text ?? '');
      if (site !== null) names.add(site);
      yield burpIssue(element);
    }
    if (!isReport) throw unfit('file', 'is no XML report of Burp Suite');
    if (names.size === 0) yield fault('the report has no issue: nothing shows that a host was scanned');
  },
};

/** One id has a finding for each header and each cookie of a page: what is told of which. */
const aboutOf = (message: string): string | undefined =>
  /header(?:\(s\))? '([^']{1,100})'/i.exec(message)?.[1] ??
  /header missing: ([\w-]{1,100})/i.exec(message)?.[1] ??
  /\bcookie (\S{1,100}) created without/i.exec(message)?.[1];

/** Nikto rates nothing: what it lists is to be looked at, and most of it is information. */
function niktoItem(one: Json, base: string, place: string): Item {
  const [id, message] = [str(one['id']), str(one['msg'])];
  if (id === '' || message === '') return unread('has no id or no msg', place);
  const path = str(one['url']) || '/';
  const about = aboutOf(message);
  return record({
    title: message,
    description: message,
    severity: 'low',
    cwes: cwesOf([one['references'], message]),
    vulnIds: vulnIdsOf([one['references'], message]),
    source: 'dast',
    ruleId: `nikto-${id}`,
    location: {
      kind: 'web',
      url: /^https?:\/\//.test(path) ? path : `${base}${path.startsWith('/') ? '' : '/'}${path}`,
      method: str(one['method']) || 'GET',
      ...(about === undefined ? {} : { matcher: about.toLowerCase() }),
    },
    references: str(one['references']).split(/\s+/),
    quality: 0.6,
  });
}

export const nikto: Format = {
  name: 'nikto',
  label: 'Nikto JSON',
  detection: '"host", "ip", "port", "banner" and "vulnerabilities"',
  detect: (beginning) =>
    /^\s*\[?\s*\{/.test(beginning) &&
    ['host', 'ip', 'port', 'banner', 'vulnerabilities'].every((name) => beginning.includes(`"${name}"`)),
  async *read(file, facts) {
    const report = await readJson(file);
    const hosts = (Array.isArray(report) ? (report as unknown[]) : [report]).map(obj);
    facts.tool = 'Nikto';
    const names = new Set<string>();
    facts.looked = { by: 'site', names };
    for (const [index, one] of hosts.entries()) {
      if (!Array.isArray(one['vulnerabilities'])) throw unfit('file', 'is no JSON report of Nikto');
      const [host, port] = [str(one['host']), pos(one['port'])];
      if (host === '') {
        yield unread('has no host', `/${index}`);
        continue;
      }
      const scheme = port === 443 || port === 8443 ? 'https' : 'http';
      const isUsual = port === undefined || port === 80 || port === 443;
      const base = `${scheme}://${host.includes(':') ? `[${host}]` : host}${isUsual ? '' : `:${port}`}`;
      names.add(siteOf(base) ?? '');
      for (const [number, found] of list(one['vulnerabilities']).entries())
        yield niktoItem(obj(found), base, `/${index}/vulnerabilities/${number}`);
    }
    if (names.size === 0) yield fault('the report names no host: nothing was scanned');
  },
};
