// Tools that look at hosts from outside: Nmap (XML) and testssl.sh (JSON, flat or pretty).
import type { Severity } from '../../../findings/words.js';
import { unfit } from '../../../kit/endpoint.js';
import { at, cwesOf, list, moment, obj, str, texts, vulnIdsOf, type Json } from '../../normalize.js';
import { fault, noFinding, record, unread, type Item, type ReportFacts } from '../../record.js';
import { readJson } from '../../reading/report-file.js';
import { childrenOf, readXml, type Element } from '../../reading/xml.js';
import { readSeverity } from '../../severity/read.js';
import { authorityOf, hostOf, siteOf, type Looked, type Sighted } from '../../run/looked-at.js';
import type { Format } from '../format.js';

const urlOf = (host: string, port: string, protocol = 'tcp'): string =>
  `${protocol}://${host.includes(':') ? `[${host}]` : host}${port === '' ? '' : `:${port}`}`;

function serviceOf(port: Element): string {
  const service = childrenOf(port, 'service')[0]?.attributes ?? {};
  const { name = '', product = '', version = '', tunnel = '' } = service;
  return [tunnel === '' ? name : `${tunnel}/${name}`, product, version].filter(Boolean).join(' ');
}

/** Scripts that say in words of their own what they have found. */
const ofScripts: readonly (readonly [scripts: RegExp, words: RegExp, cwe: number, severity: Severity])[] = [
  [/^ftp-anon$/, /anonymous ftp login allowed/i, 306, 'medium'],
  [/^http-sql-injection$/, /possible sqli/i, 89, 'high'],
  [/^http-(?:stored-xss|dombased-xss|phpself-xss)$/, /found the following|vulnerable/i, 79, 'high'],
  [/^http-csrf$/, /found the following possible csrf/i, 352, 'medium'],
  [/^http-passwd$/, /directory traversal found/i, 22, 'high'],
  [/-empty-password$/, /empty password/i, 258, 'critical'],
  [/-brute$/, /valid credentials/i, 1391, 'critical'],
  [/^smtp-open-relay$/, /server is an open relay/i, 441, 'medium'],
  [/^x11-access$/, /access is granted/i, 306, 'high'],
  [/^http-trace$/, /trace is enabled/i, 693, 'low'],
];

const saysVulnerable = (state: string): boolean => /^(?:LIKELY |VULNERABLE)/.test(state);

/** Tables of an element, however deep. */
function* tablesOf(element: Element): Generator<Element> {
  for (const table of childrenOf(element, 'table')) {
    yield table;
    yield* tablesOf(table);
  }
}
const elemOf = (table: Element, key: string): string =>
  childrenOf(table, 'elem')
    .find(({ attributes }) => attributes['key'] === key)
    ?.text.trim() ?? '';

/** What the library of vulnerability scripts writes beside its text: a title, a state and ids. */
function* statesOf(script: Element): Generator<{ title: string; state: string; ids: string }> {
  for (const table of tablesOf(script)) {
    const state = elemOf(table, 'state');
    const [ids] = childrenOf(table, 'table').filter(({ attributes }) => attributes['key'] === 'ids');
    const named = [table.attributes['key'] ?? '', ...childrenOf(ids, 'elem').map((one) => one.text)].join(' ');
    if (state !== '') yield { title: elemOf(table, 'title'), state, ids: named };
  }
}

/** CVEs of the tables of vulners. */
function* vulnersOf(script: Element): Generator<{ id: string; score: string }> {
  for (const table of tablesOf(script)) {
    const [id, score] = [elemOf(table, 'id'), elemOf(table, 'cvss')];
    if (elemOf(table, 'type') === 'cve' && /^CVE-[\d-]{6,20}$/i.test(id) && /^\d{1,2}(?:\.\d)?$/.test(score))
      yield { id, score };
  }
}

/** `key: value` of the library of Nmap's vulnerability scripts, and lines of vulners (`CVE-… 7.5 https://…`). */
function* scriptItems(script: Element, url: string, service: string): Generator<Item> {
  const { id = '', output = '' } = script.attributes;
  if (id === '') return yield unread('has a script without id', url);
  const place = (matcher: string) => ({ kind: 'web', url, matcher }) as const;
  const rated = [...output.matchAll(/^\s*((?:CVE|GHSA)-[\w-]{4,40})\s+(\d{1,2}(?:\.\d)?)\s+(https?:\/\/\S{1,300})/gim)];
  const ofVersion = (name: string, score: string, link: string): Item =>
    record({
      title: `${name.toUpperCase()} in ${service || 'a service'}`,
      ...readSeverity(score.includes('.') ? score : `${score}.0`),
      vulnIds: [name],
      source: 'dast',
      ruleId: name.toUpperCase(),
      location: place(name.toUpperCase()),
      references: [link],
      quality: 0.6, // by the version that the service tells
    });
  for (const [, name = '', score = '', link = ''] of rated) yield ofVersion(name, score, link);
  const listed = rated.length > 0 ? [] : [...vulnersOf(script)];
  for (const { id: name, score } of listed) yield ofVersion(name, score, `https://vulners.com/cve/${name}`);
  if (rated.length + listed.length > 0) return;
  if (/^\s*ERROR: /.test(output)) return yield fault(`${url}: ${id}: ${output.trim().slice(0, 200)}`);
  const tables = [...statesOf(script)];
  for (const { title, state, ids } of tables.filter((one) => saysVulnerable(one.state)))
    yield record({
      title: title || id,
      description: output.trim(),
      severity: 'high',
      vulnIds: vulnIdsOf([ids, output]),
      cwes: cwesOf([output]),
      source: 'dast',
      ruleId: id,
      location: place(tables.length === 1 ? id : `${id} ${title}`),
      quality: state.startsWith('LIKELY') ? 0.7 : 0.85,
    });
  if (tables.some((one) => saysVulnerable(one.state))) return;
  const said = ofScripts.find(([scripts, words]) => scripts.test(id) && words.test(output));
  if (said !== undefined)
    return yield record({
      title: `${id}: ${output.trim().split('\n')[0]?.trim().slice(0, 200) ?? ''}`,
      description: output.trim(),
      severity: said[3],
      cwes: [said[2]],
      source: 'dast',
      ruleId: id,
      location: place(id),
      quality: 0.7,
    });
  const state = tables[0]?.state ?? /^\s*State:\s*(.+?)\s*$/m.exec(output)?.[1] ?? '';
  const isVulnerable = saysVulnerable(state) || (state === '' && /^\s*VULNERABLE\b/m.test(output));
  if (!isVulnerable)
    return yield noFinding(state === '' ? 'reports no vulnerability' : `is ${state.toLowerCase()}`, id);
  const title = /VULNERABLE:\s*\n\s*(.{1,300})/.exec(output)?.[1]?.trim() ?? id;
  const risk = /Risk factor:\s*(\w+)/i.exec(output)?.[1];
  yield record({
    title,
    description: output.trim(),
    ...readSeverity(risk, { ifAbsent: 'high' }),
    vulnIds: vulnIdsOf([output]),
    cwes: cwesOf([output]),
    source: 'dast',
    ruleId: id,
    location: place(id),
    references: output.match(/https?:\/\/\S{1,300}/g) ?? [],
    quality: state.startsWith('LIKELY') ? 0.7 : 0.85,
  });
}

function* hostItems(host: Element): Generator<Item> {
  const addresses = childrenOf(host, 'address').filter(({ attributes }) => attributes['addrtype'] !== 'mac');
  const names = childrenOf(childrenOf(host, 'hostnames')[0], 'hostname');
  const asked = names.find(({ attributes }) => attributes['type'] === 'user') ?? names[0];
  const name = asked?.attributes['name'] ?? addresses[0]?.attributes['addr'] ?? '';
  if (name === '') return yield unread('has no address', 'host');
  for (const port of childrenOf(childrenOf(host, 'ports')[0], 'port')) {
    const { portid = '', protocol = 'tcp' } = port.attributes;
    const url = urlOf(name, portid, protocol);
    const state = childrenOf(port, 'state')[0]?.attributes['state'] ?? '';
    if (state !== 'open') {
      yield noFinding(`is ${state || 'of no known state'}`, url);
      continue;
    }
    const service = serviceOf(port);
    yield record({
      title: `Open port ${portid}/${protocol}${service === '' ? '' : `: ${service}`}`,
      description: childrenOf(childrenOf(port, 'service')[0], 'cpe')
        .map((one) => one.text.trim())
        .join('\n'),
      severity: 'info',
      source: 'dast',
      ruleId: 'open-port',
      location: { kind: 'web', url, matcher: 'open-port' },
    });
    for (const script of childrenOf(port, 'script')) yield* scriptItems(script, url, service);
  }
  for (const script of childrenOf(childrenOf(host, 'hostscript')[0], 'script'))
    yield* scriptItems(script, urlOf(name, ''), name);
}

/** States of ports by which nothing is known of the host: no packet of it came back. */
const silentStates = /^(?:filtered|open\|filtered|closed\|filtered|)$/;

/** Whether a host that is up by `-Pn` alone has let something be heard. */
function hasAnswered(host: Element): boolean {
  if (childrenOf(host, 'status')[0]?.attributes['reason'] !== 'user-set') return true;
  const [ports] = childrenOf(host, 'ports');
  const states = [
    ...childrenOf(ports, 'extraports').map(({ attributes }) => attributes['state'] ?? ''),
    ...childrenOf(ports, 'port').map((port) => childrenOf(port, 'state')[0]?.attributes['state'] ?? ''),
  ];
  return states.some((state) => !silentStates.test(state));
}

/** Hosts that were up, and the ports of them that were asked. */
class Scanned implements Looked {
  readonly by = 'host';
  readonly names = new Set<string>();
  /** One that is up by `-Pn` alone, and of which no port answered; '': none is. */
  silent = '';
  /** By protocol; none: the report does not say which. */
  private readonly ports = new Map<string, (readonly [from: number, to: number])[]>();

  takePorts({ attributes: { protocol = 'tcp', services = '' } }: Element): void {
    const ranges = services.split(',').flatMap((range): (readonly [number, number])[] => {
      const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(range.trim()) ?? [];
      return from === '' ? [] : [[Number(from), Number(to)]];
    });
    if (ranges.length > 0) this.ports.set(protocol, [...(this.ports.get(protocol) ?? []), ...ranges]);
  }

  /** Returns the name of a host that was given up before its end; '': none was. */
  takeHost(host: Element): string {
    const state = childrenOf(host, 'status')[0]?.attributes['state'] ?? 'up';
    if (state !== 'up') return '';
    const names = childrenOf(childrenOf(host, 'hostnames')[0], 'hostname').map((one) => one.attributes['name'] ?? '');
    const addresses = childrenOf(host, 'address').map((one) => one.attributes['addr'] ?? '');
    const all = [...names, ...addresses];
    if (host.attributes['timedout'] === 'true') return all[0] ?? 'a host';
    if (!hasAnswered(host)) {
      this.silent ||= all[0] ?? 'a host';
      return '';
    }
    for (const name of all) this.names.add(hostOf(urlOf(name, '')) ?? '');
    return '';
  }

  covers({ url }: Sighted): boolean {
    const found = url === null ? null : authorityOf(url);
    if (found === null || found.port === '' || this.ports.size === 0) return true;
    const port = Number(found.port);
    return (this.ports.get(found.scheme) ?? []).some(([from, to]) => port >= from && port <= to);
  }
}

export const nmap: Format = {
  name: 'nmap',
  label: 'Nmap XML',
  detection: '<nmaprun>',
  detect: (beginning) => /<nmaprun[\s>]/.test(beginning),
  async *read(file, facts) {
    facts.tool = 'Nmap';
    facts.complete = false;
    const scanned = new Scanned();
    facts.looked = scanned;
    let isReport = false;
    let hasEnded = false;
    for await (const [element, [run]] of readXml(
      file,
      (name) => ['host', 'finished', 'nmaprun', 'scaninfo'].includes(name),
      ['nmaprun'],
    )) {
      const top = element.name === 'nmaprun' ? element : run;
      isReport ||= top?.name === 'nmaprun';
      facts.version = top?.attributes['version'] ?? '';
      const seconds = Number(top?.attributes['start'] ?? '');
      if (seconds > 0) facts.scannedAt = new Date(seconds * 1000);
      if (element.name === 'finished') hasEnded = element.attributes['exit'] !== 'error';
      if (element.name === 'scaninfo') scanned.takePorts(element);
      if (element.name === 'host') {
        const late = scanned.takeHost(element);
        if (late !== '') yield fault(`${late}: the host was given up (host-timeout)`);
        yield* hostItems(element);
      }
    }
    if (!isReport) throw unfit('file', 'is no report of Nmap', 'write it with -oX');
    if (hasEnded && scanned.names.size === 0)
      yield fault(
        scanned.silent === ''
          ? 'no host was up: nothing was scanned (see -Pn)'
          : `${scanned.silent}: no port answered, and the host is up by -Pn alone: nothing shows that it was reached`,
      );
    facts.complete = hasEnded;
  },
};

/** Words of testssl.sh for results that are no weakness. */
const passed = new Set(['OK', 'INFO', 'DEBUG']);

function testsslItem(one: Json, place: string, facts: ReportFacts, host: string, port: string): Item {
  const [id, word, finding] = [str(one['id']), str(one['severity']).toUpperCase(), str(one['finding'])];
  if (id === '' || word === '') return unread('has no id or no severity', place);
  // every OpenSSL of a distribution lacks old protocols and ciphers: what a server offers of them is told by others
  if (word === 'WARN' && /not supported by (?:the )?local openssl/i.test(finding))
    return noFinding('was not tested: the OpenSSL of the scanner does not have it', id);
  const isFault = word === 'FATAL' || word === 'WARN' || /^(?:scanProblem|engine_problem)$/.test(id);
  if (isFault) {
    facts.complete = false;
    return fault(`${id}: ${finding.slice(0, 200)}`);
  }
  if (passed.has(word)) return noFinding(`is ${word}`, id);
  const ids = texts(one['cve']).flatMap((text) => text.split(/\s+/));
  return record({
    title: `${id}: ${finding}`,
    description: finding,
    ...readSeverity(word),
    vulnIds: vulnIdsOf(ids),
    cwes: cwesOf(texts(one['cwe'])),
    source: 'dast',
    ruleId: id,
    location: { kind: 'web', url: urlOf(host, port, 'https'), matcher: id },
    quality: 0.85,
  });
}

/** `example.org/192.0.2.1` names the host and the address that was asked. */
const nameOf = (ip: string): string => (/^[^/]+/.exec(ip.trim())?.[0] ?? ip) || 'host';

const notTested = 'nothing but the time of the scan is told: no test was run';
const noTarget = 'the report names no target: none was tested';

export const testssl: Format = {
  name: 'testssl',
  label: 'testssl.sh JSON (flat and pretty)',
  detection: '"id", "severity" and "finding" with "ip", or "scanResult"',
  detect: (beginning) =>
    (/^\s*\[/.test(beginning) &&
      ['"id"', '"ip"', '"severity"', '"finding"'].every((name) => beginning.includes(name))) ||
    (beginning.includes('"scanResult"') && beginning.includes('"Invocation"')),
  async *read(file, facts) {
    const report = await readJson(file);
    facts.tool = 'testssl';
    const names = new Set<string>();
    facts.looked = { by: 'site', names };
    if (Array.isArray(report)) {
      if (report.length === 0) yield fault(noTarget);
      else if (report.every((one) => /^scanTime$/i.test(str(obj(one)['id'])))) yield fault(notTested);
      for (const [index, value] of (report as unknown[]).entries()) {
        const one = obj(value);
        const [name, port] = [nameOf(str(one['ip'])), str(one['port'])];
        names.add(siteOf(urlOf(name, port)) ?? '');
        yield testsslItem(one, `/${index}`, facts, name, port);
      }
      return;
    }
    const scans = obj(report)['scanResult'];
    if (!Array.isArray(scans)) throw unfit('file', 'is no report of testssl.sh');
    if (scans.length === 0) yield fault(noTarget);
    facts.version = str(at(report, 'version'));
    facts.scannedAt = moment(at(report, 'startTime'));
    for (const [index, value] of (scans as unknown[]).entries()) {
      const scan = obj(value);
      if (scan['id'] !== undefined) {
        yield testsslItem(scan, `/scanResult/${index}`, facts, 'host', '');
        continue;
      }
      const host = str(scan['targetHost']) || str(scan['ip']) || 'host';
      names.add(siteOf(urlOf(host, str(scan['port']))) ?? '');
      for (const [section, rows] of Object.entries(scan))
        for (const [number, one] of list(rows).entries())
          yield testsslItem(obj(one), `/scanResult/${index}/${section}/${number}`, facts, host, str(scan['port']));
    }
  },
};
