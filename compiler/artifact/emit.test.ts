// Program → artifact: equal programs give equal bytes; a change recompiles only what holds it; a damaged cache is a
// miss.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { decodeArtifact, hyperscanLibrary, loadRuleset } from '#engine';
import { createFileCache } from '../disk/file-cache.js';
import { emitArtifact } from './emit.js';
import { createMemoryCache, programOf } from '../testing/rule-text.js';

const base = `
SecRuleEngine On
SecAction "id:1,phase:1,nolog,noauditlog,pass,setvar:tx.pl=1"
SecRule TX:pl "@lt 2" "id:2,phase:1,nolog,noauditlog,pass,skipAfter:END"
SecRule ARGS "@rx folded" "id:3,phase:2,deny"
SecMarker END
SecRule ARGS "@rx ev(?:i)l\\d+" "id:4,phase:2,deny,t:urlDecodeUni"
SecRule ARGS|REQUEST_COOKIES "@pm union select" "id:5,phase:2,deny,t:none,t:urlDecodeUni,t:lowercase"
SecRule REQUEST_HEADERS:User-Agent "@pm scanner crawler" "id:6,phase:1,deny"
SecRule RESPONSE_BODY "@rx secret" "id:7,phase:4,deny"
SecRule REQUEST_FILENAME "@endsWith .bak" "id:8,phase:1,deny,t:normalizePath"
`;

function temporaryDirectory(t: { teardown(call: () => void): unknown }): string {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-emit-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

t.test('equal programs give equal bytes, whatever was emitted between and wherever databases came from', async (t) => {
  const cache = createMemoryCache();
  const first = await emitArtifact(programOf(base), { cache, threads: 2 });
  const other = await emitArtifact(programOf(`${base}SecRule ARGS "@rx other" "id:20,phase:2,deny"\n`), {
    cache,
    threads: 1,
  });
  const again = await emitArtifact(programOf(base), { cache, threads: 1 });
  const cold = await emitArtifact(programOf(base), { threads: 1 });
  t.ok(first.bytes.equals(again.bytes) && first.hash === again.hash, 'from the cache');
  t.ok(first.bytes.equals(cold.bytes), 'compiled anew');
  t.not(other.hash, first.hash);
  t.match(first.hash, /^[0-9a-f]{64}$/);
});

t.test('the report counts what is there', async (t) => {
  const { bytes, report } = await emitArtifact(programOf(base), { threads: 1 });
  const { plan, blobs, program } = decodeArtifact(bytes);
  t.equal(report.artifactBytes, bytes.length);
  t.equal(report.rules, program.items.filter((item) => item.kind === 'rule').length);
  t.same(
    report.active,
    plan.active.map((list) => list.length),
  );
  t.equal(report.plan.databases.length, plan.databases.length);
  t.ok(
    plan.databases.every(({ key }) => blobs.has(key)),
    'every database travels with its bytes',
  );
  t.equal(report.constants, plan.initialTx.length);
});

t.test('a new rule recompiles the databases that hold it and no other', async (t) => {
  const cache = createFileCache(temporaryDirectory(t));
  const before = await emitArtifact(programOf(base), { cache, threads: 1 });
  t.ok(before.report.plan.databases.every(({ compileMs }) => compileMs >= 0));
  const keys = new Set(before.report.plan.databases.map(({ key }) => key));
  const after = await emitArtifact(programOf(`${base}SecRule RESPONSE_BODY "@rx leak\\d" "id:30,phase:4,deny"\n`), {
    cache,
    threads: 1,
  });
  const { plan } = decodeArtifact(after.bytes);
  const fresh = after.report.plan.databases.filter(({ key }) => !keys.has(key)).map(({ key }) => key);
  const holders = plan.databases
    .filter(({ patterns }) => patterns.some(({ source }) => source.includes('leak')))
    .map(({ key }) => key);
  t.ok(holders.length > 0, 'some database holds the rule');
  t.same([...new Set(fresh)].sort(), [...new Set(holders)].sort(), 'what is new is what holds it');
  const compiled = after.report.plan.databases.filter(({ compileMs }) => compileMs > 0).map(({ key }) => key);
  t.ok(
    compiled.every((key) => holders.includes(key)),
    'nothing else was compiled',
  );
  const unchanged = await emitArtifact(programOf(base), { cache, threads: 1 });
  t.equal(
    unchanged.report.plan.databases.filter(({ compileMs }) => compileMs > 0).length,
    0,
    'nothing changed, nothing compiled',
  );
});

t.test('a damaged cache entry is a miss', async (t) => {
  const directory = temporaryDirectory(t);
  const cache = createFileCache(directory);
  const before = await emitArtifact(programOf(base), { cache, threads: 1 });
  const files = readdirSync(directory);
  const found = (name: string): Uint8Array | null => cache.find(name.slice(0, name.lastIndexOf('.')));
  t.ok(
    files.every((name) => found(name) !== null),
    'every entry is found while whole',
  );
  t.ok(files.length > 5, `${files.length} entries`);
  for (const [index, name] of files.entries()) {
    const bytes = readFileSync(join(directory, name));
    const at = Math.floor(bytes.length / 2);
    bytes[at] = (bytes[at] as number) ^ 0x10;
    // Flipped, cut, emptied, or as an older release wrote it.
    writeFileSync(
      join(directory, name),
      [bytes, bytes.subarray(0, at), Buffer.alloc(0), bytes.subarray(32)][index % 4] as Buffer,
    );
  }
  t.ok(
    files.every((name) => found(name) === null),
    'no damaged entry is found',
  );
  const after = await emitArtifact(programOf(base), { cache, threads: 1 });
  t.ok(after.bytes.equals(before.bytes), 'the artifact is the same as ever');
  const ruleset = loadRuleset(after.bytes, hyperscanLibrary());
  t.same(ruleset.rebuilt, [], 'and loads without rebuilding');
  ruleset.release();
  t.ok(
    readdirSync(directory).every((name) => found(name) !== null),
    'the entries are whole again',
  );
});
