import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { readEnvironment } from '../environment/read-environment.js';
import { adoptionOf, hindranceOf } from './adopt-environment.js';

const [ours, theirs] = ['o'.repeat(40), 't'.repeat(40)];
const now = new Date('2026-03-01T12:00:00Z');
const lines = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');

interface Row {
  readonly name: string;
  /** Of the process. */
  readonly given?: Readonly<Record<string, string>>;
  /** .env; null: a device, as in a container. */
  readonly file: Readonly<Record<string, string>> | null;
  readonly backup: Readonly<Record<string, string>>;
  readonly refused?: RegExp;
  /** What is in force afterwards. */
  readonly after?: Readonly<Record<string, string>>;
  readonly isUntouched?: boolean;
}

const secret = (value: string) => ({ SETTINGS_ENCRYPTION_SECRET: value });
const table: readonly Row[] = [
  { name: 'the same in a container', given: secret(ours), file: null, backup: secret(ours) },
  {
    name: 'another in a container',
    given: secret(ours),
    file: null,
    backup: secret(theirs),
    refused: /another SETTINGS/,
  },
  {
    name: 'none in a container',
    file: null,
    backup: secret(theirs),
    refused: /another SETTINGS_ENCRYPTION_SECRET than/,
  },
  {
    name: 'whom a container names as the first to log in stays',
    given: { ...secret(ours), ADMIN_EMAIL: 'here@example.org' },
    file: null,
    backup: { ...secret(ours), ADMIN_EMAIL: 'there@example.org', BACKUP_RECIPIENT: 'age1there' },
    after: { ADMIN_EMAIL: 'here@example.org', BACKUP_RECIPIENT: '' },
  },
  { name: 'another in the file', file: secret(ours), backup: secret(theirs), after: secret(theirs) },
  { name: 'none in the file', file: {}, backup: secret(theirs), after: secret(theirs) },
  { name: 'the same in the file', file: secret(ours), backup: secret(ours), after: secret(ours), isUntouched: true },
  {
    name: 'the same by the process, and none in the file',
    given: secret(ours),
    file: {},
    backup: secret(ours),
    after: secret(ours),
    isUntouched: true,
  },
  {
    name: 'another by the process',
    given: secret(ours),
    file: secret(theirs),
    backup: secret(theirs),
    refused: /would win over the \.env/,
  },
  {
    name: 'an empty one of the process is none',
    given: secret(''),
    file: {},
    backup: secret(theirs),
    after: secret(theirs),
  },
];

for (const { name, given = {}, file, backup, refused, after = {}, isUntouched = false } of table)
  t.test(`the environment of a backup: ${name}`, async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'gatehouse-adopt-'));
    const path = file === null ? devNull : join(directory, '.env');
    if (file !== null) writeFileSync(path, lines(file));
    const before = { ...process.env };
    t.teardown(() => {
      process.env = before;
      rmSync(directory, { recursive: true, force: true });
    });
    process.env = { ...before, ...given, GATEHOUSE_ENV_FILE: path };
    const text = lines(backup);
    if (refused !== undefined) {
      t.throws(() => adoptionOf(text, readEnvironment(), now), { name: 'BackupError', message: refused });
      t.match(hindranceOf(text, readEnvironment()), refused);
    } else {
      t.equal(hindranceOf(text, readEnvironment()), null);
      adoptionOf(text, readEnvironment(), now)();
    }
    t.match(readEnvironment(), after);
    t.notOk(existsSync(`${devNull}.before-restore-2026-03-01T12-00-00-000Z`));
    if (file === null) return;
    const isSame = readFileSync(path, 'utf8') === lines(file);
    t.equal(isSame, isUntouched || refused !== undefined);
    t.equal(readdirSync(directory).length, isSame ? 1 : 2, 'the file as it was is kept beside one that changed');
  });
