// Orders of versions as the documents of each ecosystem give them: each list ascends, members of an inner list are
// equal. Every pair of a list is compared both ways.
import fc from 'fast-check';
import t from 'tap';
import { comparatorOf } from './index.js';
import { compareRpm } from './rpm.js';

const ascending: Readonly<Record<string, readonly (string | readonly string[])[]>> = {
  npm: [
    '0.0.1',
    '1.0.0-alpha',
    '1.0.0-alpha.1',
    '1.0.0-beta.2',
    '1.0.0-beta.11',
    ['1.0.0', 'v1.0', '1', '1.0.0+b'],
    '1.2',
  ],
  Go: ['0.0.0-20200101000000-abcdefabcdef', '0.1.0', 'v1.0.0-rc.1', '1.0.0', '1.10.0'],
  PyPI: [
    '1.0.dev1',
    '1.0a1.dev2',
    ['1.0a1', '1.0-alpha.1'],
    '1.0a2',
    '1.0b1',
    ['1.0rc1', '1.0c1', '1.0.pre1'],
    ['1.0', 'v1', '1.0.0'],
    '1.0+abc.5',
    '1.0+abc.7',
    '1.0+5',
    '1.0.post1.dev3',
    ['1.0.post1', '1.0-1', '1.0.rev1'],
    '1.1.dev1',
    '1!0.1',
  ],
  Maven: [
    '1-alpha-1',
    ['1-alpha2', '1a2', '1.0.alpha2'],
    '1-beta1',
    '1-milestone1',
    ['1-rc1', '1-cr1'],
    '1-snapshot',
    ['1', '1.0', '1.0.0', '1-ga', '1.0.0.final', '1.0.0-release'],
    '1-sp',
    '1-foo',
    '1-1',
    '1.0.1',
    '1.2',
    '1.10',
  ],
  RubyGems: ['1.0.a', '1.0.a.2', '1.0.b1', ['1.0-rc1', '1.0.pre.rc1'], ['1', '1.0', '1.0.0'], '1.0.1', '1.10'],
  NuGet: ['1.0.0-Alpha', '1.0.0-beta.2', '1.0.0-beta.10', ['1.0', '1.0.0.0', '1.0.0+x'], '1.0.0.1', '1.0.1'],
  Packagist: [
    '1.0-dev',
    '1.0.0-alpha1',
    '1.0.0-beta',
    '1.0.0-beta2',
    '1.0.0-RC1',
    ['1.0', 'v1.0.0.0'],
    '1.0.0-p1',
    '1.0.1',
  ],
  'Debian:12': [
    '1.0~~',
    '1.0~rc1-1',
    '1.0',
    '1.0-1~deb12u1',
    '1.0-1',
    '1.0-1+b1',
    '1.0-1.1',
    '1.0a-1',
    '1.10-1',
    '1:0.1',
  ],
  'Alpine:v3.19': [
    '1.0_alpha1',
    '1.0_rc1',
    '1.0',
    '1.0-r1',
    '1.0_git20200101',
    '1.0_p1',
    '1.0a',
    '1.0.1',
    '1.05',
    '1.1',
    '1.10',
  ],
  'Red Hat:enterprise_linux:9': [
    '1.0~~',
    '1.0~rc1-1',
    '1.0~rc1^git2-1',
    '1.0~rc2-1',
    ['1.0', '0:1.0', '1.0.', '1_0'],
    '1.0-1~bootstrap.el9',
    ['1.0-1', '1.00-01'],
    '1.0-1^post',
    '1.0-1.el8',
    '1.0-1.el9',
    '1.0-1.el9_2',
    '1.0-1.el9_2.3',
    '1.0-1.1',
    '1.0-2.el9',
    '1.0-12.el9',
    '1.0^20260101-1',
    '1.0^20260102-1',
    '1.0a-1',
    '1.0b-1',
    '1.0.b1-1.el9',
    '1.0.1-1',
    ['1.5-1', '1.05-1'],
    '1.10-1',
    '20000101000000000000000000001-1',
    '1:0.1-1',
    '2:0.1~-1',
  ],
};

t.test('VM1: versions are ordered as each ecosystem orders them', (t) => {
  for (const [ecosystem, list] of Object.entries(ascending)) {
    const compare = comparatorOf(ecosystem, 'ECOSYSTEM');
    const all = list.flatMap((one, rank) => [one].flat().map((text) => ({ text, rank })));
    for (const left of all)
      for (const right of all) {
        const wanted = Math.sign(left.rank - right.rank);
        const got = compare?.(left.text, right.text);
        if (got === null || got === undefined || Math.sign(got) !== wanted)
          t.fail(`${ecosystem}: ${left.text} and ${right.text}: ${String(got)}, not ${wanted}`);
      }
    t.pass(`${ecosystem}: ${all.length} versions`);
  }
  t.end();
});

t.test('VM1: what is no version of its ecosystem is compared with nothing', (t) => {
  for (const [ecosystem, text] of [
    ['npm', 'latest'],
    ['npm', '1.2.3.4'],
    ['PyPI', 'one'],
    ['RubyGems', 'main'],
    ['NuGet', '1.x'],
    ['Packagist', 'dev-main'],
    ['Debian:12', 'a b'],
    ['Alpine', '1.0_what1'],
    ['Maven', ''],
    ['Go', '1'.repeat(201)],
    ['Rocky Linux:8', ''],
    ['AlmaLinux:8', 'x:1.0'],
    ['SUSE:Linux Enterprise Server 15 SP5', '1.0 1'],
    ['openSUSE:Leap 15.5', '1-2-3'],
  ] as const) {
    const compare = comparatorOf(ecosystem, 'ECOSYSTEM');
    t.equal(compare?.(text, '1.0.0'), null, `${ecosystem} ${text.slice(0, 20)}`);
    t.equal(compare?.('1.0.0', text), null);
  }
  t.equal(comparatorOf('Hackage', 'ECOSYSTEM'), null);
  t.equal(comparatorOf('npm', 'GIT'), null);
  t.equal(comparatorOf('Hackage', 'SEMVER')?.('1.0.0', '2.0.0'), -1, 'a range says itself that it is of this kind');
  t.end();
});

/** As rpm-version(7) tells it: from the left, a character or a row of digits or letters at a time. */
function slowRpmPart(left: string, right: string): number {
  const kinds = ['~', '', '^', 'letter', 'digit'];
  const kind = (text: string): string =>
    /^\d/.test(text) ? 'digit' : /^[A-Za-z]/.test(text) ? 'letter' : text.slice(0, 1);
  let [one, other] = [left, right].map((text) => text.replace(/^[^A-Za-z0-9~^]+/, '')) as [string, string];
  if (one === '' && other === '') return 0;
  const [is, wanted] = [kind(one), kind(other)];
  if (is !== wanted) return kinds.indexOf(is) - kinds.indexOf(wanted);
  const size = (text: string): number =>
    is === 'digit' ? text.search(/\D|$/) : is === 'letter' ? text.search(/[^A-Za-z]|$/) : 1;
  const [part, next] = [one.slice(0, size(one)), other.slice(0, size(other))];
  [one, other] = [one.slice(part.length), other.slice(next.length)];
  if (is === 'digit' && BigInt(part) !== BigInt(next)) return BigInt(part) < BigInt(next) ? -1 : 1;
  if (is === 'letter' && part !== next) return part < next ? -1 : 1;
  return slowRpmPart(one, other);
}

const rpmPart = fc.string({ unit: fc.constantFrom(...'0019abZ.._+~~^'), minLength: 1, maxLength: 8 });
const rpmVersion = fc
  .tuple(fc.constantFrom('', '0:', '1:', '01:'), rpmPart, fc.option(rpmPart, { nil: null }))
  .map(([epoch, version, release]) => `${epoch}${version}${release === null ? '' : `-${release}`}`);
const runs = { seed: Number(process.env['SEED'] ?? 20_261_123), numRuns: 2000 };

t.test('VM1: versions of RPM packages are in one order, and it is that of the plain reading', (t) => {
  const compare = (left: string, right: string): number => Math.sign(compareRpm(left, right) ?? Number.NaN);
  fc.assert(
    fc.property(rpmPart, rpmPart, (left, right) => compare(left, right) === Math.sign(slowRpmPart(left, right))),
    runs,
  );
  fc.assert(
    fc.property(rpmVersion, rpmVersion, rpmVersion, (a, b, c) => {
      const [ab, bc, ac] = [compare(a, b), compare(b, c), compare(a, c)];
      if (compare(a, a) !== 0 || ab !== -compare(b, a) || ![-1, 0, 1].includes(ab)) return false;
      return ab <= 0 && bc <= 0 ? ac <= 0 && (ac < 0 || (ab === 0 && bc === 0)) : true;
    }),
    runs,
  );
  t.end();
});
