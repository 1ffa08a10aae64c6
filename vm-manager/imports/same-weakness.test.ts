// Records of packages beside findings that other tools have: which are one, which are not, and which of several. Pure;
// osv/osv.test.ts sends the reports.
import fc from 'fast-check';
import t from 'tap';
import { record } from './record.js';
import { assign, fitOf, withAliases, type Candidate } from './same-weakness.js';

const place = (name: string, path?: string, purl?: string) => ({
  kind: 'package' as const,
  name,
  ...(path === undefined ? {} : { path }),
  ...(purl === undefined ? {} : { purl }),
});
const finding = (id: number, places: Candidate['places'], more: Partial<Candidate> = {}): Candidate => ({
  finding_id: id,
  status: 'new',
  is_open: true,
  vuln_ids: ['CVE-2026-1111'],
  places,
  ...more,
});

t.test('VM1: places of a package go together by path, and without one by name', (t) => {
  const left = place('left', 'a/lock', 'pkg:npm/left@1.0.0');
  for (const [name, places, wanted] of [
    ['the same path', [place('left', 'b/lock'), place('left', 'a/lock')], 3],
    ['no path', [place('left')], 2],
    ['an empty path', [place('left', '')], 2],
    ['the purl alone has the name', [place('LEFT of npm', undefined, 'pkg:npm/left@9?x=1')], 2],
    ['another path, the same component', [place('left', 'b/lock', 'pkg:npm/left@1.0.0?arch=all')], 1],
    ['another path, another version', [place('left', 'b/lock', 'pkg:npm/left@1.0.1')], 0],
    ['another path, no version', [place('left', 'b/lock', 'pkg:npm/left')], 0],
    ['another package', [place('right')], 0],
    ['no package', [{ kind: 'code' as const, path: 'a/lock' }, null], 0],
  ] as const)
    t.equal(fitOf(left, places), wanted, name);
  t.equal(fitOf(place('left'), [place('left', 'b/lock')]), 2, 'a record without a path');
  t.end();
});

t.test('VM1: aliases are those of the advisories that name one of the ids', (t) => {
  const known = [
    { id: 'GHSA-aaaa-bbbb-cccc', aliases: ['CVE-2026-1111'] },
    { id: 'PYSEC-2026-1', aliases: ['CVE-2026-2222'] },
  ];
  t.same([...withAliases(['CVE-2026-1111'], known)].sort(), ['CVE-2026-1111', 'GHSA-AAAA-BBBB-CCCC']);
  t.same([...withAliases(['GHSA-AAAA-BBBB-CCCC'], known)].sort(), ['CVE-2026-1111', 'GHSA-AAAA-BBBB-CCCC']);
  t.same([...withAliases(['X-1'], known)], ['X-1']);
  t.end();
});

const sighted = (location: Parameters<typeof fitOf>[0], ...vulnIds: string[]) => ({
  record: record({ title: 'T', severity: 'high', source: 'sca', ruleId: 'r', location, vulnIds }),
});

t.test('VM1: of several the best place counts, then what is open, then the oldest; never another weakness', (t) => {
  const [here, there, nowhere] = [place('left', 'a'), place('left', 'b'), place('left')];
  const known = [{ id: 'GHSA-1', aliases: ['CVE-2026-1111'] }];
  const pick = (...all: Candidate[]): number | undefined => {
    const one = sighted(here, 'CVE-2026-1111');
    return assign([one], all, known).get(one)?.finding_id;
  };
  t.equal(pick(finding(1, [nowhere]), finding(2, [here])), 2);
  t.equal(pick(finding(1, [nowhere], { is_open: false }), finding(2, [nowhere])), 2);
  t.equal(pick(finding(2, [nowhere]), finding(1, [nowhere])), 1);
  t.equal(pick(finding(1, [here], { vuln_ids: ['GHSA-1'] })), 1, 'by an alias');
  t.equal(pick(finding(1, [here], { vuln_ids: ['CVE-2026-2222'] })), undefined);
  t.equal(pick(finding(1, [there])), undefined);
  t.equal(pick(), undefined);
  const [first, second] = [
    sighted(place('left', 'b', 'pkg:npm/left@1'), 'GHSA-1'),
    sighted(place('left', 'a', 'pkg:npm/left@1'), 'GHSA-1'),
  ];
  const one = finding(1, [place('left', 'a', 'pkg:npm/left@1')]);
  t.same([...assign([first, second], [one], known)], [[second, one]], 'the one at its place, wherever it stands');
  t.end();
});

t.test('VM1: no finding is given twice, and the order of findings says nothing', (t) => {
  const places = fc.subarray([place('left', 'a'), place('left', 'b'), place('left'), place('right', 'a')], {
    minLength: 1,
  });
  const isOpen = fc.boolean();
  const one = fc
    .record({ id: fc.integer({ min: 1, max: 9 }), places, isOpen })
    .map((given) => finding(given.id, given.places, { is_open: given.isOpen }));
  const many = fc.uniqueArray(one, { selector: ({ finding_id: id }) => id });
  const records = fc.array(
    places.map(([at = place('left')]) => sighted(at, 'CVE-2026-1111')),
    { maxLength: 4 },
  );
  fc.assert(
    fc.property(records, many, (given, all) => {
      const found = assign(given, all, []);
      const again = assign(given, [...all].reverse(), []);
      return new Set(found.values()).size === found.size && given.every((each) => found.get(each) === again.get(each));
    }),
    { seed: Number(process.env['SEED'] ?? 20_261_123), numRuns: 300 },
  );
  t.end();
});
