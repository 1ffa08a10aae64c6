// Which test files may run in one process, and that none is lost on the way.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { formCompanies, mayShare } from './companions.js';

const databases = 'import t from "tap";\nimport { onBothDatabases } from "../testing/databases.js";\n';

t.test('who may share', async (t) => {
  t.ok(mayShare(`${databases}t.test("x", (t2) => onBothDatabases(t2, "x", x));`));
  t.ok(mayShare('import { onBothDatabases } from "#api/testing/databases";'));
  const asking = [
    't.setTimeout(testMsMax);',
    'fc.configureGlobal({ seed: Number(process.env["SEED"] ?? 12) });',
    'const isUpdate = process.env.UPDATE === "1";',
    'if (process.platform !== "linux") t.comment("x");',
    't.ok(runs, "in the process. It ends");',
    'import { stop } from "./process.js";',
  ];
  for (const line of asking) t.ok(mayShare(line), line);
  const owned = [
    'process.env["A"] = "b";',
    'process.env.SEED = "b";',
    'process.env[name] = "b";',
    'process.env.SEED ??= "b";',
    'delete process.env["A"];',
    'const before = process.cpuUsage();',
    'start({ env: process.env });',
    'process.on("SIGTERM", end);',
    'import process from "node:process";',
    'globalThis.fetch = fake;',
    'setGlobalDispatcher(agent);',
    'import { runListenerContract } from "../contract/listener.contract.js";',
    'import { spawn } from "node:child_process";',
    'import { Worker } from "node:worker_threads";',
    'import { startServer } from "../testing/processes/server.js";',
    'Date.prototype.getTime = () => 0;',
    'Error.stackTraceLimit = 100;',
    'const cluster = await startCluster(t);',
    'await t.test("x", async () => {});',
    'const found = await look();',
    't.teardown(() => {});',
    't.plan(2);',
    'const m = await t.mockImport("./x.js");',
  ];
  for (const line of owned) t.notOk(mayShare(databases + line), line);
});

/** What the file of this number holds, and how many of its kind run in one process at most. */
const kinds = [
  { text: databases, companyMax: 12 },
  { text: 'import t from "tap";\n', companyMax: 24 },
  { text: 'process.exit(0);', companyMax: 1 },
] as const;

t.test('every file is in exactly one company, with those of its kind, few enough', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-companions-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(join(root, 'e2e'));
  for (const count of [0, 1, 2, 9, 16, 17, 40, 100]) {
    const files = Array.from({ length: count }, (_, index) => `${index % 7 === 6 ? 'e2e/' : ''}${index}.test.js`);
    const numberOf = (file: string): number => Number.parseInt(file.replace('e2e/', ''), 10);
    for (const file of files) writeFileSync(join(root, file), kinds[numberOf(file) % 3]?.text ?? '');
    const companies = formCompanies(root, files);
    t.strictSame(companies.flat().sort(), [...files].sort(), `${count} files`);
    for (const company of companies) {
      const [kind, ...others] = [...new Set(company.map((file) => numberOf(file) % 3))];
      t.ok(kind !== undefined && others.length === 0, 'of one kind');
      t.ok(company.length <= (kinds[kind ?? 0]?.companyMax ?? 0), `${company.length} in one`);
      t.ok(
        kind === 0 || company.length === 1 || !company.some((file) => file.startsWith('e2e/')),
        'whole planes alone',
      );
    }
  }
});

t.test('whole planes come first, then what needs databases, then small files', async (t) => {
  const root = t.testdir({
    'a.js': '',
    'b.js': databases,
    'c.js': 'process.exit(0);',
    'd.js': databases,
    e2e: { 'e.js': '' },
  });
  const companies = formCompanies(root, ['a.js', 'b.js', 'c.js', 'd.js', 'e2e/e.js']);
  t.strictSame(companies, [['e2e/e.js'], ['b.js', 'd.js'], ['a.js'], ['c.js']]);
});
