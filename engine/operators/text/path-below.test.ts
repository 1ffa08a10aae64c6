// @pathBelow, held to readers that are written here on purpose once more and apart: servers as they are known, each a
// chain of steps of its own. Where one of them leaves the path, the operator must not say "below".
import fc from 'fast-check';
import t from 'tap';
import { pathBelow } from './path-below.js';

fc.configureGlobal({ seed: Number(process.env['SEED'] ?? 20_261_121) });

const below = (argument: string, uri: string): boolean =>
  pathBelow
    .create({ name: 'pathBelow', negated: false, argument, template: null, phrases: null }, argument)
    .matches(uri);

type Step = (path: string) => string;
const percent: Step = (path) =>
  path.replace(/%[0-9a-f][0-9a-f]/gi, (escape) => String.fromCharCode(parseInt(escape.slice(1), 16)));
const microsoft: Step = (path) =>
  path.replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => {
    const code = parseInt(hex, 16);
    const ascii: Record<number, string> = { 0xff0e: '.', 0xff0f: '/', 0x2215: '/', 0xff3c: '\\', 0x2024: '.' };
    return ascii[code] ?? (code < 256 ? String.fromCharCode(code) : '?');
  });
const overlong: Step = (path) =>
  path
    .replaceAll('\xc0\xae', '.')
    .replaceAll('\xc0\xaf', '/')
    .replaceAll('\xe0\x80\xae', '.')
    .replaceAll('\xc1\x9c', '\\')
    .replaceAll('\xef\xbc\x8e', '.')
    .replaceAll('\xef\xbc\x8f', '/');
const backslash: Step = (path) => path.split('\\').join('/');
const parameters: Step = (path) => path.replace(/;[^/]*/g, '');
const slashes: Step = (path) => path.replace(/\/+/g, '/');
const jsessionid: Step = (path) => path.replace(/;.*$/s, '');
const nul: Step = (path) => path.split('\0')[0] as string;
const windows: Step = (path) =>
  path
    .split('/')
    .map((one) => (/^\.\.?$/.test(one) ? one : one.replace(/[. ]+$/, '')))
    .join('/');
const dots: Step = (path) => {
  const out: string[] = [];
  for (const part of path.split('/').slice(1)) {
    if (part === '..') out.pop();
    else if (part !== '.') out.push(part);
  }
  return `/${out.join('/')}`;
};
const node: Step = (path) => new URL(`http://h${path.replace(/^\/+/, '/')}`).pathname;
const unreserved: Step = (path) => path.replace(/%2e/gi, '.');
const apache: Step = (path) =>
  path.replace(/%(?!2f|5c)([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));

const wide = (path: string, of: (code: number) => string): string =>
  [...Buffer.from(path, 'latin1').toString('utf8')].map((one) => of(one.codePointAt(0) as number)).join('');
const narrow: Step = (path) => wide(path, (code) => String.fromCharCode(code & 0xff));
/** Names stay: whoever loses them answers that there is no such page. */
const ascii: Step = (path) =>
  path
    .split('/')
    .map((one) => (/^\.\.?$/.test(one.replace(/[\x80-\xff]/g, '')) ? one.replace(/[\x80-\xff]/g, '') : one))
    .join('/');
const japan: Step = (path) => wide(path, (code) => (code === 0xa5 ? '\\' : String.fromCharCode(code & 0x7f)));

const servers: readonly (readonly [string, readonly Step[]])[] = [
  ['nginx', [percent, slashes, dots]],
  ['nginx in front of one that decodes again', [percent, slashes, dots, percent, dots]],
  ['Apache', [apache, slashes, dots]],
  ['Tomcat', [parameters, percent, dots]],
  ['Tomcat behind a decoder', [percent, parameters, dots]],
  ['Jetty', [parameters, percent, slashes, dots]],
  ['Spring', [jsessionid, percent, slashes, dots]],
  ['IIS', [microsoft, percent, overlong, backslash, slashes, windows, dots]],
  ['IIS twice', [percent, microsoft, percent, overlong, backslash, dots]],
  ['a careless one', [percent, overlong, percent, overlong, backslash, parameters, slashes, dots]],
  ['Node.js', [node, percent]],
  ['Node.js, decoded before', [percent, node, percent]],
  ['RFC 3986', [unreserved, dots, percent]],
  ['C', [percent, nul, dots]],
  ['Node.js that forwards what it has decoded', [percent, narrow, dots]],
  ['one that knows ASCII alone', [percent, ascii, slashes, dots]],
  ['one of Japan', [percent, japan, backslash, dots]],
  ['thrice', [percent, percent, percent, slashes, dots]],
];

const words = ['both', 'admin', 'x', '..', '.', '', '%2e%2e', '%252e%252e', '.%2e', '%u002e%u002e', '%uff0e%uff0e'];
const pieces = [
  ...[...words, ...words, '..;', '..;a=b', '%2e%2e%3b', '..%00', '..%20', '.. .', '...', '%09..', '..%0d', ';', ';a=b'],
  ...['%c0%ae%c0%ae', '%ef%bc%8e.', '%e0%80%ae.', '\xc0\xae.', 'both%00', 'b%6fth', '%62oth', 'a%2520b', '%zz', 'é'],
  ...['%ef%bc%ae.', '%c4%ae%c4%ae', '..%c2%a0', '.%c2%ad.', '..%ff', '%e2%80%8b..', '..%c2%a5admin', '..%c4%afadmin'],
];
const separators = ['/', '/', '/', '/', '//', '\\', '%2f', '%252f', '%5c', '%255c', '%c0%af', '%uff0f', '%2F', '/./'];

t.test('A4, A10: where a server reads a path that lies elsewhere, it is not below', async (t) => {
  let held = 0;
  let escaped = 0;
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...separators), fc.constantFrom(...pieces)), { minLength: 0, maxLength: 7 }),
      fc.constantFrom('/both', '/both', '/', ''),
      (parts, beginning) => {
        const path = `${beginning}${parts.map(([separator, word]) => separator + word).join('')}`;
        const uri = path.startsWith('/') ? path : `/${path}`;
        const holds = below('/both', uri);
        if (holds) held += 1;
        for (const [name, steps] of servers) {
          let read = uri;
          try {
            for (const step of steps) read = step(read);
          } catch {
            continue; // the server refuses it
          }
          if (read === '/both' || read.startsWith('/both/')) continue;
          escaped += 1;
          if (holds) throw new Error(`${name} reads ${JSON.stringify(uri)} as ${JSON.stringify(read)}`);
        }
      },
    ),
    { numRuns: 20_000 },
  );
  t.ok(held > 500 && escaped > 5000, `${held} paths lay below, ${escaped} readings did not`);
});

t.test('ordinary paths below are below', async (t) => {
  for (const uri of [
    '/both',
    '/both/',
    '/both?x=..',
    '/both/a%20b',
    '/both/100%25',
    '/both/a;v=1/b',
    '/both/%C3%BC',
    '/both/x/../y',
    '/both/a%2Fb',
    '/both//x',
    '/%62oth/x',
    'https://h/both/x',
    '/both/.well-known/x',
    '/both/a..b',
    '/both/a%3Fb%23c',
    '/both/%E2%82%AC/%F0%9F%98%80',
    '/both/2026-11-22T10%3A00%3A00Z',
    '/both/file.tar.gz',
    "/both/(a)/b,c/@d/~e/f+g/h=i/j&k/l!m/n$o/'p*",
  ])
    t.ok(below('/both', uri), uri);
  for (const uri of ['/', '/bot', '/botha', '/BOTH', '*', 'h:443', 'http://both', '/x/both', '//both'])
    t.notOk(below('/both', uri), uri);
  t.ok(below('/', '/%2e%2e%5c'), 'everything is below the root');
  t.notOk(below('/a/*', '/x'));
  t.ok(below('/a/*/c', '/a/b/c/d'));
  t.notOk(below('/a/*/c', '/a/x%2f..%2f..%2fb/c'));
  t.notOk(below('/a/*/c', '/a/x%00/c'), 'a string of C ends there');
});

t.test('a path with very many readings costs little and is not below', async (t) => {
  for (const unit of ['%25', '..;/', '%2e%2e%2f', '\\..', ';a/', '%c0%ae/', '%u002e', '%252525252e', '/.', '\t/']) {
    const uri = `/both/${unit.repeat(Math.floor(16_000 / unit.length))}`;
    const before = process.cpuUsage();
    below('/both', uri);
    const { user, system } = process.cpuUsage(before);
    t.ok(user + system < 250_000, `${unit}: ${Math.round((user + system) / 1000)} ms`);
  }
});
