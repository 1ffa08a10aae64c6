import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { openAddressSet } from '../shared-state/address-set.js';
import type { ThreatTable } from '../shared-state/threat-delta.js';
import { ThreatList } from './threat-list.js';

t.test('a list is taken whole or not at all, kept, and found again', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-threats-'));
  t.teardown(() => rm(directory, { recursive: true, force: true }));
  const problems: string[] = [];
  const list = new ThreatList(directory, (message) => problems.push(message));
  const empty = list.sha256;
  const spread: ThreatTable[] = [];
  const put = (text: string) => list.replace(Buffer.from(text), (table) => spread.push(table));
  await list.resume();
  t.equal(list.current, null, 'nothing there is no problem');
  t.match(await put('192.0.2.0/24\n\r\n2001:db8::/32\n192.0.2.7\n'), {
    outcome: 'active',
    networks: 3,
    intervals: 2,
    isPersisted: true,
  });
  t.match(await put('198.51.100.1\nnonsense\n'), { outcome: 'refused', reason: /"nonsense"/ });
  t.match({ networks: list.networks, sent: spread.length }, { networks: 3, sent: 1 }, 'a refusal changes nothing');
  const known = list.sha256;
  t.not(known, empty);
  const again = new ThreatList(directory, (message) => problems.push(message));
  await again.resume();
  t.equal(again.sha256, known);
  t.ok(openAddressSet(again.current?.table as SharedArrayBuffer).contains('192.0.2.99'));
  const [first, second] = await Promise.all([put('203.0.113.1'), put('')]);
  t.match([first, second], [{ networks: 1 }, { networks: 0, sha256: empty }]);
  t.same(
    spread.map(({ version }) => version),
    [1, 2, 3],
    'in order of arrival',
  );
  t.equal(await readFile(join(directory, 'threats.txt'), 'utf8'), '');
  t.same(problems, []);
  await writeFile(join(directory, 'threats.txt'), 'broken');
  await again.resume();
  t.match(problems, [/deny list in .* cannot be used/]);
});
