// Detection without any corpus: the requests of fixtures/requests through the default policy, by the oracle and by the
// compiled engine. Attacks are blocked by what the CRS says of their category, benign requests pass, malformed bodies
// are refused before any score decides.
import { requireSettings, type CategoryKey } from '#settings';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { automataCacheDirectory, root } from '#cli/environment/directories';
import { createCompiledInspector, createMemoryStore, hyperscanLibrary, loadRuleset, type Verdict } from '#engine';
import { createInterpreter } from '#engine/compile';
import { emitArtifact } from './artifact/emit.js';
import { compileProgram } from './compile-program.js';
import { formatDiagnostics } from './diagnostics/format.js';
import { createFileCache } from './disk/file-cache.js';
import { diskReader } from './disk/disk-reader.js';
import { loadCoreRuleSet, renderPolicy, resolvePolicy } from './index.js';
import { categoryTags } from './policy/settings.js';
import { compareAll, type Sample } from './testing/agreement.js';
import { findCrs, findCrsOf } from './testing/core-rules.js';

interface Row {
  readonly id: string;
  readonly why: string;
  readonly method: string;
  readonly uri: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string;
  /** Of attacks: the category of the settings whose rules should see it. */
  readonly category?: string;
}

const bytes = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');

function rowsOf(name: string): Row[] {
  return readFileSync(join(root, `fixtures/requests/${name}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
}

function sampleOf({ id, method, uri, headers, body }: Row): Sample {
  return {
    id,
    head: {
      method,
      uri: bytes(uri),
      protocol: 'HTTP/1.1',
      headers: headers.flatMap(([name, value]) => [bytes(name), bytes(value)]),
      clientIp: '192.0.2.7',
      clientPort: 40_000,
      serverIp: '192.0.2.80',
      serverPort: 80,
    },
    body: body === undefined ? null : Buffer.from(body, 'utf8'),
    response: null,
  };
}

/** The CRS blocks these at level 1 by rules of another category: a local file by its name, a `data:` URL as script. */
const seenElsewhere: ReadonlyMap<string, CategoryKey> = new Map([
  ['rfi-2', 'lfi'],
  ['php-3', 'xss'],
]);

/** Ids of the rules of engine-config.ts that end a request whose body cannot be inspected. */
const refusalIds = [200_000, 200_999] as const;

t.setTimeout(600_000);
const crs = findCrs();
/** Attacks that rules of 3.3 let pass, or see as another category; version 4 is held to all of them. */
const missedBy33: ReadonlySet<string> = new Set(
  'rce-6 lfi-5 java-0 java-1 generic-0 generic-1 generic-2 generic-3 generic-metadata'.split(' '),
);
t.test(
  'the default policy over the fixtures',
  { skip: crs === null && 'no rule set: set CRS_DIR or run make crs' },
  async (t) => {
    const loaded = loadCoreRuleSet(crs as string, diskReader);
    if (loaded.crs === null) throw new Error(formatDiagnostics(loaded.diagnostics));
    const { policy } = resolvePolicy(requireSettings({}), loaded.crs);
    const { program, diagnostics } = compileProgram(policy === null ? [] : renderPolicy(policy), {
      reader: diskReader,
    });
    if (program === null) throw new Error(formatDiagnostics(diagnostics));
    const { bytes: artifact } = await emitArtifact(program, { cache: createFileCache(automataCacheDirectory()) });
    const ruleset = loadRuleset(artifact, hyperscanLibrary());
    const oracle = createInterpreter(program);
    const compiled = createCompiledInspector(ruleset);
    t.teardown(() => {
      compiled.release();
      ruleset.release();
    });
    const verdictOf = (sample: Sample): Verdict => {
      const transaction = compiled.begin(sample.head, { uniqueId: 'x', nowMs: 0, store: createMemoryStore() });
      compiled.requestHeaders(transaction);
      compiled.requestBody(transaction, sample.body);
      return compiled.finish(transaction);
    };
    const said = ({ matched, interruption }: Verdict): string =>
      `${interruption?.ruleId ?? 'passed'}: ${matched.map(({ rule }) => rule.id).join(' ')}`;

    for (const [name, least] of [
      ['attacks', 87],
      ['benign', 69],
      ['malformed', 10],
    ] as const) {
      const rows = rowsOf(name);
      t.ok(rows.length >= least, `${name}: at least ${least} requests`);
      t.same(compareAll(oracle, [{ name: 'compiled', inspector: compiled }], rows.map(sampleOf)).differences, [], name);
      for (const row of rows) {
        if (crs !== findCrsOf('4') && missedBy33.has(row.id)) continue;
        const verdict = verdictOf(sampleOf(row));
        const what = `${name} ${row.id} (${row.why}): ${said(verdict)}`;
        if (name === 'benign') t.equal(verdict.kind, 'pass', what);
        else t.equal(verdict.kind, 'block', what);
        const by = verdict.interruption?.ruleId ?? 0;
        if (name === 'malformed') t.ok(by >= refusalIds[0] && by <= refusalIds[1], what);
        if (name !== 'attacks') continue;
        t.ok(by < refusalIds[0] || by > refusalIds[1], what);
        const tags: readonly string[] = categoryTags[seenElsewhere.get(row.id) ?? (row.category as CategoryKey)];
        t.ok(
          verdict.matched.some((match) => match.tags.some((tag) => tags.includes(tag))),
          `${row.category}: ${what}`,
        );
      }
    }
  },
);
