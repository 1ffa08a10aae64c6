// What the control plane may know of backups before one is made.
import { join } from 'node:path';
import t from 'tap';
import { createKey } from '#api/main';
import { variables, type Values } from '#settings/environment';
import { backupTools } from './tools.js';

const defaults = Object.fromEntries(variables.map((row) => [row.name, row.default])) as Values;
t.test('where no backup was made yet there is none to list or remove', async (t) => {
  const tools = backupTools({ ...defaults, BACKUP_TO: join(t.testdir(), 'none') }, () => undefined);
  t.same([await tools.list(), await tools.prune(1)], [[], []]);
});

const hindranceOf = (recipient: string): string | null =>
  backupTools({ ...defaults, BACKUP_RECIPIENT: recipient }, () => undefined).hindrance();

t.test('a backup that could not be sealed is known before it is begun', async (t) => {
  t.match(hindranceOf(''), /BACKUP_RECIPIENT is not set.*`gatehouse backup key`/);
  t.match(hindranceOf('age1nonsense'), /BACKUP_RECIPIENT cannot be used.*begins with age1/);
  const { recipient } = await createKey();
  t.equal(hindranceOf(recipient), null);
  t.match(hindranceOf(`${recipient},x`), /cannot be used/, 'every one of them');
});
