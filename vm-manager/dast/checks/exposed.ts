// What a site serves that was not meant to be public: files by their usual names, backups, listings of directories. A
// file is known by its contents, and a name that cannot exist must not be answered alike.
import type { Exchange, Proof } from '../model.js';
import { always, everyTurn, everywhere, turnsOfSign, turnsOfWord, word, type Check, type Probe } from './check.js';

interface ExposedFile {
  readonly path: string;
  readonly shows: (exchange: Exchange) => boolean;
}

const text =
  (form: RegExp) =>
  ({ body, headers }: Exchange): boolean =>
    form.test(body.slice(0, 20_000)) && !/html/i.test(headers['content-type'] ?? '');
const page =
  (form: RegExp) =>
  ({ body }: Exchange): boolean =>
    form.test(body.slice(0, 50_000));

const files: readonly ExposedFile[] = [
  { path: '/.git/HEAD', shows: text(/^ref: refs\/|^[0-9a-f]{40}\s*$/) },
  { path: '/.git/config', shows: text(/^\s*\[core\]/m) },
  { path: '/.svn/entries', shows: text(/^\d+\s*\n\s*\n?dir\b/) },
  { path: '/.env', shows: text(/^[A-Z][A-Z0-9_]{2,60}\s*=\s*\S/m) },
  ...['/.env.local', '/.env.production', '/.env.bak', '/.env.dev'].map((path) => ({
    path,
    shows: text(/^[A-Z][A-Z0-9_]{2,60}\s*=\s*\S/m),
  })),
  { path: '/.vscode/sftp.json', shows: page(/"(?:password|privateKeyPath)"\s*:/) },
  { path: '/.bash_history', shows: text(/^(?:cd|ls|sudo|ssh|git|vi|vim|cat|exit)\b/m) },
  { path: '/.htpasswd', shows: text(/^[\w.-]+:(?:\$(?:apr1|2[aby])\$|\{SHA\})/m) },
  { path: '/.npmrc', shows: text(/_authToken\s*=|^registry\s*=/m) },
  { path: '/.aws/credentials', shows: text(/aws_secret_access_key/i) },
  { path: '/id_rsa', shows: text(/-----BEGIN [A-Z ]*PRIVATE KEY-----/) },
  { path: '/docker-compose.yml', shows: text(/^services:\s*$/m) },
  ...['/db.sql', '/database.sql'].map((path) => ({
    path,
    shows: text(/^(?:CREATE TABLE|INSERT INTO|-- MySQL dump|-- PostgreSQL database dump)/im),
  })),
  { path: '/storage/logs/laravel.log', shows: text(/^\[\d{4}-\d\d-\d\d[^\]]*\] \w+\.(?:ERROR|INFO|DEBUG)/m) },
  ...['/debug.log', '/error.log'].map((path) => ({
    path,
    shows: text(/^\[?\w{0,3},? ?\d{1,4}[-/ ]\w{2,3}[-/ ]\d{1,4}.{0,40}(?:PHP (?:Fatal|Warning)|\[error\]|ERROR)/im),
  })),
  { path: '/info.php', shows: page(/<title>[^<]*phpinfo\(\)|PHP Version\s*<\/?/i) },
  { path: '/phpinfo.php', shows: page(/<title>[^<]*phpinfo\(\)|PHP Version\s*<\/?/i) },
  { path: '/server-status', shows: page(/Apache Server Status for|Server uptime:/i) },
  { path: '/actuator/env', shows: page(/"propertySources"\s*:/) },
  { path: '/actuator/mappings', shows: page(/"dispatcherServlets"\s*:|"contexts"\s*:.*"mappings"/s) },
  { path: '/debug/vars', shows: page(/"memstats"\s*:/) },
  { path: '/debug/pprof/', shows: page(/\/debug\/pprof\/|full goroutine stack dump/) },
  { path: '/metrics', shows: text(/^# (?:HELP|TYPE) \w+/m) },
  { path: '/backup.sql', shows: text(/^(?:CREATE TABLE|INSERT INTO|-- MySQL dump|-- PostgreSQL database dump)/im) },
  { path: '/dump.sql', shows: text(/^(?:CREATE TABLE|INSERT INTO|-- MySQL dump|-- PostgreSQL database dump)/im) },
  { path: '/web.config', shows: page(/<configuration>[\s\S]*<(?:system\.web|connectionStrings)/i) },
  { path: '/config.json', shows: page(/"(?:password|secret|api_?key|private_?key)"\s*:\s*"[^"]+"/i) },
];

async function isOrdinary({ parts, talk }: Probe, { path, shows }: ExposedFile): Promise<boolean> {
  const at = path.lastIndexOf('/');
  const other = await talk.get(`${parts.origin}${path.slice(0, at + 1)}${word(8)}${path.slice(at + 1)}`, {
    isAnonymous: true,
  });
  return other === null || (other.status < 300 && shows(other));
}

async function proveFile(probe: Probe, file: ExposedFile, why: string): Promise<Proof | null> {
  const url = `${probe.parts.origin}${file.path}`;
  return everyTurn(turnsOfSign, async () => {
    const exchange = await probe.talk.get(url, { isAnonymous: true });
    if (exchange === null || exchange.status !== 200 || !file.shows(exchange)) return null;
    return (await isOrdinary(probe, file)) ? null : { attack: file.path, exchange, neutral: null, why };
  });
}

/** One check for each file, so that each is a finding of its own. */
const fileChecks = files.map(
  (file): Check => ({
    id: `exposed-file:${file.path}`,
    title: `Exposed file ${file.path}`,
    severity: 'high',
    cwe: 538,
    on: 'site',
    profiles: always,
    description: `The site serves ${file.path}, which is meant for its operators.`,
    remediation: 'Keep it outside of what is served, refuse its path, and renew secrets that stand in it.',
    prove: async (probe) =>
      proveFile(probe, file, 'Its contents are those of such a file; a name beside it is not answered like this.'),
  }),
);

const source = /<\?php|<%@|^\s*(?:import|require|from|const|class|def|function|package|using)\b/m;
const backups: readonly ((path: string) => string)[] = [
  (path) => `${path}.bak`,
  (path) => `${path}~`,
  (path) => `${path}.old`,
  (path) => path.replace(/([^/]+)$/, '.$1.swp'),
];

async function backup(probe: Probe): Promise<Proof | null> {
  const paths = probe.parts.seenPaths.map((one) => new URL(one).pathname).filter((path) => /\.\w{1,5}$/.test(path));
  for (const path of [...new Set(paths)].slice(0, 30))
    for (const make of backups) {
      const file = { path: make(path), shows: text(source) };
      const proof = await proveFile(probe, file, 'The copy has source code, which the file itself does not show.');
      if (proof !== null) return proof;
    }
  return null;
}

const isListing = page(/<title>\s*(?:Index of|Directory listing for)\s+\/|<h1>\s*(?:Index of|Directory listing)/i);

async function listing(probe: Probe): Promise<Proof | null> {
  const directories = new Set<string>();
  for (const one of probe.parts.seenPaths) {
    const { pathname } = new URL(one);
    const parts = pathname.split('/').slice(1, -1);
    for (let at = 1; at <= Math.min(parts.length, 3); at++) directories.add(`/${parts.slice(0, at).join('/')}/`);
  }
  for (const name of ['/uploads/', '/files/', '/backup/', '/static/', '/assets/']) directories.add(name);
  for (const path of [...directories].slice(0, 60)) {
    const proof = await proveFile(probe, { path, shows: isListing }, 'The directory lists what it has.');
    if (proof !== null) return proof;
  }
  return null;
}

async function trace({ parts, talk }: Probe): Promise<Proof | null> {
  const why = 'The answer repeats the headers of the request.';
  return everyTurn(turnsOfWord, async () => {
    const marker = word(12);
    const request = { method: 'TRACE', url: `${parts.origin}/`, headers: { 'x-probe': marker }, body: null } as const;
    const exchange = await talk.ask(request, { isAnonymous: true });
    if (exchange === null || exchange.status !== 200 || !exchange.body.includes(marker)) return null;
    return { attack: 'TRACE', exchange, neutral: null, why };
  });
}

async function introspection({ parts, talk }: Probe): Promise<Proof | null> {
  for (const path of ['/graphql', '/api/graphql', '/v1/graphql']) {
    const request = {
      method: 'POST',
      url: parts.origin + path,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ __schema { queryType { name } types { name } } }' }),
    } as const;
    const first = await talk.ask(request, { isAnonymous: true });
    if (first === null || !/"__schema"\s*:\s*\{\s*"queryType"/.test(first.body)) continue;
    const again = await talk.ask(request, { isAnonymous: true });
    if (again !== null && again.body.includes('"__schema"'))
      return {
        attack: request.body,
        exchange: again,
        neutral: null,
        why: 'It shows its whole schema without a login.',
      };
  }
  return null;
}

export const exposedChecks: readonly Check[] = [
  ...fileChecks,
  {
    id: 'backup-file',
    title: 'Backup of a source file',
    severity: 'high',
    cwe: 530,
    on: 'site',
    profiles: everywhere,
    description: 'A copy of a file that the server runs is served as text.',
    remediation: 'Remove copies from what is served, and refuse their endings.',
    prove: backup,
  },
  {
    id: 'directory-listing',
    title: 'Directory listing',
    severity: 'low',
    cwe: 548,
    on: 'site',
    profiles: always,
    description: 'The server lists the files of a directory.',
    remediation: 'Switch listings off.',
    prove: listing,
  },
  {
    id: 'trace-method',
    title: 'TRACE repeats requests',
    severity: 'low',
    cwe: 693,
    on: 'site',
    profiles: always,
    description: 'The method TRACE repeats headers of the request, among them those that scripts may not read.',
    remediation: 'Switch TRACE off.',
    prove: trace,
  },
  {
    id: 'graphql-introspection',
    title: 'GraphQL shows its schema',
    severity: 'low',
    cwe: 200,
    on: 'site',
    profiles: always,
    description: 'The schema of the GraphQL interface can be asked for without a login.',
    remediation: 'Switch introspection off in production.',
    prove: introspection,
  },
];
