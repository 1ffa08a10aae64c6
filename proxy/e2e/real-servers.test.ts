// B1: what a server itself serves for a protected resource, the gate in front of it refuses. No model of ours says what
// a spelling means: each is sent to the server first, and what comes back with the resource is sent through Gatehouse.
import fc from 'fast-check';
import t from 'tap';
import { knownSpellings, spellingPieces } from '../admit/testing/path-spellings.js';
import { startPlane, testMsMax } from './harness.js';
import { bodyOf, sendRaw, statusOf } from './raw-client.js';
import { mark, realServers, startRealServer } from './real-servers.js';

t.setTimeout(testMsMax);
const seed = Number(process.env['SEED'] ?? 20_261_127);
const randomSpellings = Math.min(3000, Number(process.env['PATH_SPELLINGS'] ?? 300));

const hex = (byte: number): string => byte.toString(16).padStart(2, '0');
/** Every byte, escaped, escaped twice and as it is, at the places where servers trim, cut and resolve. */
function spellingsByByte(): string[] {
  const spellings: string[] = [];
  for (let byte = 0; byte < 256; byte += 1) {
    if (/[0-9b-z]/i.test(String.fromCharCode(byte))) continue; // all alike: `a` stands for them
    const forms = [`%${hex(byte)}`];
    if ([0x20, 0x2b, 0x2e, 0x2f, 0x3b, 0x5c].includes(byte)) forms.push(`%25${hex(byte)}`);
    if (byte > 0x20) forms.push(String.fromCharCode(byte));
    for (const form of forms)
      spellings.push(
        `/authed${form}`,
        `/${form}authed`,
        `/authed${form}/x`,
        `/authed/${form}`,
        `/x/..${form}/authed/x`,
        `${form}/authed/x`,
        `/auth${form}ed/x`,
        `/${form}/authed/x`,
        `/authed${form}x.css`,
      );
  }
  return spellings;
}

const blanks = [
  '/my%20area',
  '/my+area',
  '/my%20area/x',
  '/my+area/x',
  '/my%2520area',
  '/my%2barea/',
  '/+authed',
].concat([
  '/authed+',
  '/authed+/x',
  '/my++area',
  '/;/my+area',
  '/x/../my+area/x',
  '//my+area',
  '/MY+area',
  '/my+area+',
]);

const random = fc.sample(
  fc.array(fc.constantFrom(...spellingPieces), { minLength: 1, maxLength: 7 }).map((parts) => `/${parts.join('')}`),
  { seed, numRuns: randomSpellings },
);
const isSent = (path: string): boolean => /^[^\s]+$/.test(path);
const alone = [...knownSpellings, ...blanks, ...spellingsByByte(), ...random];
/** Servers of files answer for a folder by sending the client on: a file in it is served under the same spelling. */
const spellings = [...new Set(alone.flatMap((path) => (path.endsWith('x') ? [path] : [path, `${path}/x`])))].filter(
  isSent,
);

async function ask(port: number, path: string): Promise<{ status: number; isServed: boolean }> {
  const head = `GET ${path} HTTP/1.1\r\nhost: shop.example\r\naccept: */*\r\nconnection: close\r\n\r\n`;
  const { text } = await sendRaw(port, head, 20_000);
  return { status: statusOf(text), isServed: bodyOf(text).includes(mark) };
}

/** The answers of `paths`, a few asked at a time. */
async function askAll(
  port: number,
  paths: readonly string[],
): Promise<{ path: string; status: number; isServed: boolean }[]> {
  const answers: { path: string; status: number; isServed: boolean }[] = [];
  const left = [...paths];
  const take = async (): Promise<void> => {
    for (let path = left.pop(); path !== undefined; path = left.pop())
      answers.push({ path, ...(await ask(port, path)) });
  };
  await Promise.all(Array.from({ length: 8 }, take));
  return answers;
}

for (const server of realServers) {
  const { name, whyAbsent } = server;
  t.test(`B1: ${name}`, { skip: whyAbsent ?? false }, async (t) => {
    const port = await startRealServer(t, server);
    const plain = await ask(port, '/authed/x');
    t.ok(plain.isServed, `the resource is there: ${plain.status}`);
    const served = (await askAll(port, spellings)).filter(({ isServed }) => isServed).map(({ path }) => path);
    const upstream = `http://127.0.0.1:${port}`;
    const plane = await startPlane(t, 'net', {
      sites: [{ name: 'shop', prefix: '/', upstream, protected: true }],
      auth_enabled: true,
      auth_protected_paths: ['/authed', '/my area'],
    });
    const open = await ask(plane.ports.http, '/open.txt');
    t.equal(open.status, 200, 'the rest is open');
    const answers = await askAll(plane.ports.http, served);
    t.comment(`${name} resolves ${served.length} of ${spellings.length} spellings to the resource`);
    t.ok(served.length > 5, 'it resolves some');
    t.equal(answers.length, served.length);
    // 400: what no listener takes for a request at all
    const escaped = answers.filter(({ status, isServed }) => isServed || (status !== 401 && status !== 400));
    t.same(escaped, [], 'none gets by');
  });
}
