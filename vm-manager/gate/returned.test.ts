// A finding that was fixed and comes back is new to the gate: the import in between, with which its commit is
// compared, has not seen it. Over HTTP, also after the import that brought it back was undone.
import t, { type Test } from 'tap';
import { startTestApp } from '#api/testing/app';
import { onBothDatabases } from '#api/testing/databases';
import { testMsMax } from '#api/testing/waiting';
import { Client } from '../testing/import-client.js';

t.setTimeout(testMsMax);
type Database = Parameters<Parameters<typeof onBothDatabases>[2]>[1];

const report = (...names: readonly string[]) => ({
  version: '2.1.0',
  runs: [
    {
      tool: { driver: { name: 'T' } },
      results: names.map((name) => ({
        ...{ ruleId: name, level: 'error', message: { text: `Remote code execution ${name}` } },
        locations: [{ physicalLocation: { artifactLocation: { uri: `${name}.js` }, region: { startLine: 1 } } }],
      })),
    },
  ],
});

async function suite(t: Test, database: Database): Promise<void> {
  const at = await startTestApp(database);
  t.teardown(() => at.close());
  const client = new Client(at, (await at.user('admin')).token);
  const app = await client.application();
  const push = async (commit: string, branch: string, ...names: readonly string[]) => {
    at.clock.nowMs += 60_000;
    const opened = await client.send(app, report(...names), { commit, branch }, '/ci/runs');
    t.equal(opened.status, 202, JSON.stringify(opened.body).slice(0, 200));
    const { body } = await client.call('POST', `/ci/runs/${opened.body['id']}/complete`);
    const [run] = opened.body['imports'] as readonly { readonly id: string }[];
    return { code: body['exit_code'] as number, fresh: body['new_findings'] as number, run: run?.id };
  };
  const again = async (commit: string) =>
    (await client.call('POST', '/gate/evaluate', { application_id: app, commit })).body['exit_code'] as number;
  t.match(await push('a1a1a1a', 'main', 'old'), { code: 1 }, 'the first of its branch');
  t.match(await push('a2a2a2a', 'main', 'old', 'x'), { code: 1 });
  t.match(await push('a3a3a3a', 'main'), { code: 0, fresh: 0 }, 'all is fixed');
  for (const [count, name] of ['a', 'b', 'c'].entries()) {
    const back = await push(`${name}4a4a4a`, 'main', 'x');
    t.match(back, { code: 1, fresh: 1 }, `it is back, for the ${count + 1}th time`);
    t.equal(await again('a3a3a3a'), 0, 'the commit that did not have it is judged as before');
    t.equal(await again('a2a2a2a'), 1, 'and so is the one that had it');
    t.match(await push(`${name}5a5a5a`, 'main'), { code: 0, fresh: 0 });
  }
  t.match(await push('b1b1b1b', 'feature', 'x'), { code: 1, fresh: 1 }, 'on another branch');
  t.match(await push('a6a6a6a', 'main'), { code: 0 });
  const { run } = await push('a7a7a7a', 'main', 'x');
  t.equal((await client.call('POST', `/imports/${run}/rollback`, {})).status, 200);
  t.equal(await again('a6a6a6a'), 0, 'as if it had not come back');
  t.match(await push('a8a8a8a', 'main', 'x'), { code: 1, fresh: 1 }, 'and it comes back');
}

onBothDatabases(t, '22: what comes back is new', suite);
