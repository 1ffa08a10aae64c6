// `gatehouse rules`: which core rule sets are here, and moving from one to another.
import { existsSync } from 'node:fs';
import { currentRuleSet, formatNotice, listRuleSets, noticeOf } from '#compiler';
import { parseOptions } from '../command-line.js';
import { dataDirectory } from '../environment/directories.js';
import { readEnvironment } from '../environment/read-environment.js';
import { readNamed, Refusal, wrongUsage } from '../refusal.js';
import { keepChoice, takeIntoUse, tryOut } from '../rule-set/activate.js';
import { checkedArchive, download, unpackInto } from '../rule-set/archive.js';
import { debianRules } from '../rule-set/debian.js';
import { readLock, sha256, treeHash, type RuleSetLock } from '../rule-set/lock.js';

const usage = [
  'Usage: gatehouse rules                              which rule sets are here, and which one is in use',
  '       gatehouse rules update                       the recommended release, downloaded',
  '       gatehouse rules update VERSION --sha256 HASH another release, downloaded',
  '       gatehouse rules update --file ARCHIVE        a release archive (.tar.gz) on this machine',
  "       gatehouse rules update --debian              Debian's package modsecurity-crs",
  '       gatehouse rules use VERSION                  one that is here already: the way back',
  '',
  '  --dry-run with update and use: fetch, compile and replay recorded requests; what serves stays as it is',
].join('\n');

const isVersion = (text: string): boolean => /^\d+\.\d+\.\d+$/.test(text);
const isSha256 = (text: string): boolean => /^[0-9a-f]{64}$/i.test(text);

function list(data: string): void {
  const current = process.env['CRS_DIR'] || currentRuleSet(data);
  const present = listRuleSets(data);
  for (const { version, directory } of present)
    console.log(`${directory === current ? '*' : ' '} CRS ${version}   ${directory}`);
  if (current !== null && !present.some(({ directory }) => directory === current))
    console.log(`* ${current} (CRS_DIR)`);
  console.log(formatNotice(noticeOf(current)));
}

/** The command that fetches a version. */
const wayTo = (version: string): string =>
  version === readLock().version ? 'rules update' : `rules update ${version} --sha256 HASH`;

interface UpdateOptions {
  readonly version: string | undefined;
  readonly sha256: string | undefined;
  readonly file: string | undefined;
  readonly debian: boolean;
}

/** An archive that a person names, held against what they say of it. */
function readArchive(file: string, wanted: string | undefined): Buffer {
  if (!existsSync(file)) throw new Refusal(`${file}: there is no such file; nothing was changed.`);
  const bytes = readNamed(file);
  const have = sha256(bytes);
  if (wanted !== undefined && have !== wanted.toLowerCase())
    throw new Refusal(`${file}: its SHA-256 is ${have}, wanted ${wanted}; nothing was changed.`);
  return bytes;
}

function downloadRelease(version: string, hash: string, lock: RuleSetLock): Buffer {
  const failures: string[] = [];
  const name = lock.archive.name.replaceAll(lock.version, version);
  for (const url of lock.archive.urls.map((one) => one.replaceAll(lock.version, version))) {
    console.log(`downloading ${url}`);
    const got = download(url, name, hash.toLowerCase());
    if ('bytes' in got) return got.bytes;
    failures.push(`  ${url}: ${got.failure}`);
  }
  throw new Refusal(
    `CRS ${version} could not be had; nothing was changed:\n${failures.join('\n')}\n` +
      `  Download it elsewhere and give it with --file ${name}.`,
  );
}

/** Puts a rule set below the data directory; returns its version. */
function fetchRules({ version, sha256: hash, file, debian }: UpdateOptions, data: string): string {
  const lock = readLock();
  if (debian) {
    const found = debianRules(data, console.log);
    if (found === null) throw new Refusal("Debian's modsecurity-crs could not be had; nothing was changed.");
    return found;
  }
  const wanted = version ?? (file === undefined ? lock.version : null);
  const isPinned = wanted === lock.version;
  if (file !== undefined) {
    const bytes = readArchive(file, hash);
    const treeSha256 = sha256(bytes) === lock.archive.sha256 ? lock.treeSha256 : null;
    return unpackInto(data, bytes, { version: wanted, treeSha256 }).version;
  }
  const isHere = (one: { readonly version: string; readonly directory: string }): boolean =>
    one.version === lock.version && treeHash(one.directory) === lock.treeSha256;
  if (isPinned && hash === undefined && listRuleSets(data).some(isHere)) {
    console.log(`CRS ${lock.version} is here already; nothing is downloaded`);
    return lock.version;
  }
  const expected = hash ?? (isPinned ? lock.archive.sha256 : undefined);
  if (wanted === null || expected === undefined)
    throw wrongUsage(
      `rules update ${wanted}: give the archive's SHA-256 with --sha256, as its release page states it.\n${usage}`,
    );
  const known = isPinned ? checkedArchive(`${data}/crs/cache/${lock.archive.name}`, lock, () => {}) : null;
  const bytes = known ?? downloadRelease(wanted, expected, lock);
  return unpackInto(data, bytes, {
    version: wanted,
    treeSha256: isPinned && hash === undefined ? lock.treeSha256 : null,
  }).version;
}

function checkUpdate({ version, sha256: hash, file, debian }: UpdateOptions): void {
  if (version !== undefined && !isVersion(version))
    throw wrongUsage(`rules update ${version}: a version is three numbers, such as 4.25.1.\n${usage}`);
  if (hash !== undefined && !isSha256(hash))
    throw wrongUsage(`rules update --sha256 ${hash}: a SHA-256 is 64 hexadecimal digits.\n${usage}`);
  if (debian && (version !== undefined || hash !== undefined || file !== undefined))
    throw wrongUsage(`rules update --debian takes nothing else.\n${usage}`);
}

/** Exit codes: 0 done, 1 refused (nothing was changed), 2 wrong usage. */
export async function runRules(argv: readonly string[]): Promise<number> {
  const { values, positionals } = parseOptions({
    args: [...argv],
    allowPositionals: true,
    options: {
      sha256: { type: 'string' },
      file: { type: 'string' },
      debian: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const data = dataDirectory();
  const [what = 'list', version, ...more] = positionals;
  const options: UpdateOptions = { version, sha256: values.sha256, file: values.file, debian: values.debian };
  const hasFlags = values.sha256 !== undefined || values.file !== undefined || values.debian;
  if (more.length > 0 || !['list', 'update', 'use'].includes(what) || (what !== 'update' && hasFlags))
    throw wrongUsage(`rules does not know ${argv.join(' ')}.\n${usage}`);
  const isTrial = values['dry-run'];
  if (isTrial && what === 'list') throw wrongUsage(`rules list takes nothing.\n${usage}`);
  const proceed = (wanted: string): Promise<string> =>
    isTrial ? tryOut(readEnvironment(), wanted) : takeIntoUse(readEnvironment(), data, wanted);
  if (what === 'list') {
    if (version !== undefined) throw wrongUsage(`rules list takes nothing.\n${usage}`);
    list(data);
    return 0;
  }
  if (process.env['CRS_DIR'])
    throw new Refusal('CRS_DIR names the rule set of this installation: change it or unset it, and start again.');
  if (what === 'use') {
    const present = listRuleSets(data).map((one) => one.version);
    if (version === undefined) throw wrongUsage(`rules use needs a version.\n${usage}`);
    if (!present.includes(version))
      throw new Refusal(
        `CRS ${version} is not here (${present.join(', ') || 'none is'}); \`${wayTo(version)}\` fetches it.`,
      );
    console.log(await proceed(version));
    return 0;
  }
  checkUpdate(options);
  if (isTrial) keepChoice(data);
  console.log(await proceed(fetchRules(options, data)));
  return 0;
}
