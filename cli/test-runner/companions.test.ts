// Which test files may run in one process, and that none is lost on the way.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { formCompanies, mayShare } from './companions.js';

const databases = 'import t from "tap";\nimport { onBothDatabases } from "../testing/databases.js";\n';

t.test('who may share', async (t) => {
  t.ok(mayShare(`${databases}t.test("x", (t2) => onBothDatabases(t2, "x", x));`));
  t.ok(mayShare('import { onBothDatabases } from "#api/testing/databases";'));
  t.notOk(mayShare('import t from "tap";\nt.test("x", async () => {});'), 'it has nothing worth sharing');
  const owned = [
    'process.env["A"] = "b";',
    'import process from "node:process";',
    'globalThis.fetch = fake;',
    'setGlobalDispatcher(agent);',
    'import { spawn } from "node:child_process";',
    'import { Worker } from "node:worker_threads";',
    'import { startServer } from "../testing/processes/server.js";',
    'Date.prototype.getTime = () => 0;',
    'Error.stackTraceLimit = 100;',
    'const cluster = await startCluster(t);',
    'await t.test("x", async () => {});',
    'const found = await look();',
    't.setTimeout(9);',
    't.teardown(() => {});',
    't.plan(2);',
    'const m = await t.mockImport("./x.js");',
  ];
  for (const line of owned) t.notOk(mayShare(databases + line), line);
});

t.test('every file is in exactly one company, at most eight in one', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'gatehouse-companions-'));
  t.teardown(() => rmSync(root, { recursive: true, force: true }));
  for (const count of [0, 1, 2, 9, 16, 17, 40]) {
    const files = Array.from({ length: count }, (_, index) => `${index}.test.js`);
    for (const [index, file] of files.entries()) writeFileSync(join(root, file), index % 3 === 2 ? '' : databases);
    const companies = formCompanies(root, files);
    t.strictSame(companies.flat().sort(), [...files].sort(), `${count} files`);
    t.ok(companies.every(({ length }) => length >= 1 && length <= 8));
    const sharers = companies.filter((company) => company.length > 1).flat();
    t.ok(sharers.every((file) => Number.parseInt(file, 10) % 3 !== 2));
  }
});
