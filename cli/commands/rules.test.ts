// `gatehouse rules` with archives of its own, where nothing runs: what is taken, what is refused, what stays as it was.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { readLock } from '../rule-set/lock.js';
import { runRuleCommand } from '../main.js';
import { captured } from '../testing/rule-command.js';

const family = ['OWASP', 'CRS'].join('_');

interface Place {
  readonly at: (name: string) => string;
  /** What a command prints on both streams, and its exit code. */
  readonly run: (...args: string[]) => Promise<{ code: number; text: string }>;
  readonly archive: (version: string, change?: (folder: string) => void) => string;
  readonly chosen: () => unknown;
}

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A data directory of its own; ports on which nothing listens. */
async function makePlace(t: Test): Promise<Place> {
  const free = String(await closedPort());
  const folder = t.testdir({});
  const at = (name: string): string => join(folder, name);
  writeFileSync(at('env'), '');
  const variables: Record<string, string> = {
    GATEHOUSE_DATA: at('data'),
    GATEHOUSE_ENV_FILE: at('env'),
    API_PORT: free,
    GATEHOUSE_ADMIN_PORT: free,
    CRS_DIR: '',
  };
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  Object.assign(process.env, variables);
  t.teardown(() => {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });
  return {
    at,
    async run(...args) {
      const told: string[] = [];
      const { error } = console;
      console.error = (text: string): void => void told.push(text);
      try {
        const { code, text } = await captured(() => runRuleCommand('rules', args));
        return { code, text: [text, ...told].join('\n') };
      } finally {
        console.error = error;
      }
    },
    archive(version, change = () => {}) {
      const name = `release-${version}`;
      const rules = at(`${name}/rules`);
      mkdirSync(rules, { recursive: true });
      writeFileSync(join(rules, 'REQUEST-901-INITIALIZATION.conf'), `SecComponentSignature "${family}/${version}"\n`);
      change(at(name));
      execFileSync('tar', ['-czf', at(`${name}.tar.gz`), '-C', folder, name]);
      return at(`${name}.tar.gz`);
    },
    chosen: () =>
      existsSync(at('data/crs/current.json')) ? JSON.parse(readFileSync(at('data/crs/current.json'), 'utf8')) : null,
  };
}
const sha256 = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

t.test('8.1: to a release from a file, and back', async (t) => {
  const place = await makePlace(t);
  const [first, second] = [place.archive('3.3.9'), place.archive('4.9.0')];
  t.match(await place.run(), { code: 0, text: /^no rule set; 4\.\d+\.\d+ recommended: bin\/gatehouse rules update$/m });
  t.match(await place.run('update', '--file', first), {
    code: 0,
    text: /CRS 3\.3\.9 will serve from the next start on/,
  });
  t.match(await place.run('update', '4.9.0', '--file', second, '--sha256', sha256(second)), { code: 0 });
  t.same(place.chosen(), { version: '4.9.0', by: 'operator' });
  t.match(await place.run(), {
    code: 0,
    text: /^\* CRS 4\.9\.0 .*\n {2}CRS 3\.3\.9 .*\nCRS 4\.9\.0; 4\.\d+\.\d+ recommended/,
  });
  t.match(await place.run('use', '3.3.9'), { code: 0 });
  t.same(place.chosen(), { version: '3.3.9', by: 'operator' });
  t.match(await place.run('update', '--file', first), { code: 0 }, 'again: the same');
});

t.test('8: a dry run asks the control plane, and changes nothing', async (t) => {
  const place = await makePlace(t);
  await place.run('update', '--file', place.archive('3.3.9'));
  const before = place.chosen();
  const file = place.archive('4.9.0');
  t.match(await place.run('update', '--file', file, '--dry-run'), { code: 1, text: /needs the control plane/ });
  t.same(place.chosen(), before);
  const asked: unknown[] = [];
  const replies: [number, object][] = [
    [200, { impact: { replayed: 40, newly_blocked: 2, newly_allowed: 1 } }],
    [200, { impact: null }],
    [422, { detail: 'Nothing was activated: no' }],
  ];
  const server = createHttpServer((request, response) => {
    let text = '';
    request.on('data', (piece: Buffer) => (text += piece.toString()));
    request.on('end', () => {
      asked.push(JSON.parse(text));
      const [status, body] = replies.shift() ?? [500, {}];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  process.env['API_PORT'] = String((server.address() as AddressInfo).port);
  t.match(await place.run('use', '4.9.0', '--dry-run'), {
    code: 0,
    text: /of 40 recorded requests 2 would be blocked that are not now, 1 the other way round\. Nothing was changed/,
  });
  t.match(await place.run('update', '--file', file, '--dry-run'), { code: 0, text: /no recorded requests/ });
  t.match(await place.run('use', '4.9.0', '--dry-run'), { code: 1, text: /4\.9\.0 would not be taken into use/ });
  t.same(asked, Array(3).fill({ version: '4.9.0', dry_run: true }));
  t.same(place.chosen(), before, 'what serves stays as it is');
  t.match(await place.run('list', '--dry-run'), { code: 2 });
});

const { version: recommended } = readLock();
const pinned = fileURLToPath(new URL(`../../../data/crs/${recommended}`, import.meta.url));
const skip = existsSync(pinned) ? false : `CRS ${recommended} is not here`;
t.test('8: the recommended release that is here is not downloaded again', { skip }, async (t) => {
  const place = await makePlace(t);
  cpSync(pinned, place.at(`data/crs/${recommended}`), { recursive: true });
  t.match(await place.run('update'), { code: 0, text: /is here already; nothing is downloaded/ });
  t.same(place.chosen(), { version: recommended, by: 'operator' });
});

t.test('8: one that is only tried out does not become the newest, which serves where nobody chose', async (t) => {
  const place = await makePlace(t);
  await place.run('update', '--file', place.archive('3.3.9'));
  rmSync(place.at('data/crs/current.json'));
  await place.run('update', '--file', place.archive('4.9.0'), '--dry-run');
  t.match(place.chosen(), { version: '3.3.9', by: 'release' });
});

t.test('8.1: what cannot be is refused, and nothing is changed', async (t) => {
  const place = await makePlace(t);
  await place.run('update', '--file', place.archive('3.3.9'));
  const good = place.archive('4.9.0');
  writeFileSync(place.at('garbage.tar.gz'), 'not an archive');
  writeFileSync(place.at('cut.tar.gz'), readFileSync(good).subarray(0, 60));
  const other = place.archive('3.3.9', (folder) => writeFileSync(join(folder, 'rules/more.conf'), '# more\n'));
  execFileSync('tar', ['-czf', place.at('empty.tar.gz'), '-C', place.at('release-4.9.0'), '--exclude=*', '.']);
  mkdirSync(place.at('bare/rules'), { recursive: true });
  execFileSync('tar', ['-czf', place.at('bare.tar.gz'), '-C', place.at('.'), 'bare']);
  const before = readdirSync(place.at('data/crs')).sort();
  const cases: [string[], number, RegExp][] = [
    [['update', '--file', good, '--sha256', 'a'.repeat(64)], 1, /its SHA-256 is [0-9a-f]{64}, wanted a+; nothing was/],
    [['update', '--file', place.at('garbage.tar.gz')], 1, /tar could not unpack/],
    [['update', '--file', place.at('cut.tar.gz')], 1, /tar could not unpack/],
    [['update', '--file', place.at('empty.tar.gz')], 1, /no folder rules/],
    [['update', '--file', place.at('bare.tar.gz')], 1, /holds no OWASP CRS 4\.x or 3\.3\.x/],
    [['update', '--file', place.archive('3.2.0')], 1, /holds no OWASP CRS 4\.x or 3\.3\.x/],
    [['update', '--file', place.at('none.tar.gz')], 1, /there is no such file/],
    [['update', '--file', place.at('data')], 1, /EISDIR/],
    [['update', '4.8.0', '--file', good], 1, /holds the rule set 4\.9\.0, not 4\.8\.0/],
    [['update', '--file', other], 1, /3\.3\.9 is in use with other files/],
    [['use', '4.9.0'], 1, /4\.9\.0 is not here \(3\.3\.9\); `rules update 4\.9\.0 --sha256 HASH` fetches it/],
    [['use', readLock().version], 1, /is not here \(3\.3\.9\); `rules update` fetches it/],
    [['update', '4.8.0'], 2, /give the archive's SHA-256/],
    [['update', 'four'], 2, /three numbers/],
    [['update', '../../x', '--sha256', 'a'.repeat(64)], 2, /three numbers/],
    [['update', '4.8.0', '--sha256', 'abc'], 2, /64 hexadecimal/],
    [['update', '--debian', '4.8.0'], 2, /takes nothing else/],
    [['use'], 2, /needs a version/],
    [['use', '4.9.0', '--debian'], 2, /does not know/],
    [['remove'], 2, /does not know/],
    [['list', 'x'], 2, /takes nothing/],
    [['--nope'], 2, /--nope/],
  ];
  for (const [args, code, expected] of cases) {
    const outcome = await place.run(...args);
    t.equal(outcome.code, code, args.join(' '));
    t.match(outcome.text, expected, args.join(' '));
    t.notMatch(outcome.text, /\n\s+at /, 'no stack');
  }
  t.same(place.chosen(), { version: '3.3.9', by: 'operator' });
  t.same(readdirSync(place.at('data/crs')).sort(), before);
});

t.test('8.1: a stopped installation with a control plane, and an operator’s own directory', async (t) => {
  const place = await makePlace(t);
  await place.run('update', '--file', place.archive('3.3.9'));
  writeFileSync(place.at('data/control-plane.json'), '{}');
  writeFileSync(place.at('data/current.json'), '{}');
  t.match(await place.run('update', '--file', place.archive('4.9.0')), {
    code: 1,
    text: /not running: start it first/,
  });
  t.same(place.chosen(), { version: '3.3.9', by: 'operator' });
  process.env['CRS_DIR'] = place.at('release-4.9.0');
  t.match(await place.run('use', '3.3.9'), { code: 1, text: /CRS_DIR names the rule set/ });
  t.match(await place.run(), { code: 0, text: /\* .*release-4\.9\.0 \(CRS_DIR\)/ });
});

t.test('8.1: the release that is pinned can be downloaded by its name', (t) => {
  const { version, archive } = readLock();
  t.ok(archive.urls.length > 0 && archive.urls.every((url) => url.includes(version)), 'another version by its own');
  t.ok(archive.name.includes(version));
  t.end();
});
