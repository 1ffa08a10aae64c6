// The warm-up compiles twice while the server already answers, so the server may be told to close at any moment of it:
// the warm-up then ends, says so, and starts no other thread.
import { defaultSettings } from '#settings';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createSealing } from '../auth/sealing.js';
import type { Database } from '../db/client.js';
import type { Fleet } from '../nodes/fleet.js';
import { connectDataPlane } from '../nodes/link.js';
import { onBothDatabases } from '../testing/databases.js';
import { writeRuleSet } from '../testing/rule-set.js';
import { makeDirectory } from '../testing/temporary.js';
import { testMsMax } from '../testing/waiting.js';
import { createPolicyCompiler, type PolicyCompiler } from './policy-compiler.js';
import { createChangeRoad } from './road.js';
import { seedSettings } from '../settings/store.js';

t.setTimeout(testMsMax);

const secret = 'b'.repeat(40);
const upstreams = { customer: 'http://127.0.0.1:1', payment: 'http://127.0.0.1:1' };
const noFleet = {} as Fleet; // no node is asked
type Moment = 'before' | 'during';

async function suite(t: Test, database: Database): Promise<void> {
  await seedSettings(database, new Date(0));
  const [crsDirectory, data] = [await writeRuleSet(t), await makeDirectory(t, 'warm')];

  /** A warm-up whose compiler is closed before or during its n-th compile; what was asked of it. */
  async function warmUp(
    close: { readonly compile: number; readonly moment: Moment } | null,
  ): Promise<{ outcome: string; asked: (boolean | undefined)[]; compiler: PolicyCompiler }> {
    const compiler = createPolicyCompiler({
      crsDirectory,
      unicodeMapping: null,
      artifactsDirectory: join(data, 'artifacts'),
      cacheDirectory: join(data, 'cache'),
      threads: 1,
    });
    t.teardown(() => compiler.close());
    const asked: (boolean | undefined)[] = [];
    const watched: PolicyCompiler = {
      ...compiler,
      async compile(policy, anew) {
        asked.push(anew);
        const isDue = asked.length === close?.compile;
        if (isDue && close?.moment === 'before') await compiler.close();
        const compiled = compiler.compile(policy, anew);
        if (isDue && close?.moment === 'during') void compiler.close();
        return compiled;
      },
    };
    const road = createChangeRoad({
      database,
      compiler: watched,
      fleet: noFleet,
      sealing: createSealing(secret),
      artifactsDirectory: join(data, 'artifacts'),
      upstreams,
      ruleTests: { prove: async () => [] },
      now: () => 0,
      clock: () => 0,
    });
    const outcome = await road.warm().catch((error: Error) => error.message);
    return { outcome, asked, compiler };
  }

  t.match(
    await warmUp(null),
    { outcome: 'compiled', asked: [false, true] },
    'left alone it compiles twice, the second time anew',
  );
  for (const compile of [1, 2]) {
    for (const moment of ['before', 'during'] as const) {
      const { outcome, asked, compiler } = await warmUp({ compile, moment });
      t.equal(outcome, 'the server is closing', `closed ${moment} compile ${compile}`);
      t.equal(asked.length, compile, 'nothing more is asked');
      await t.rejects(compiler.compile(defaultSettings()), /closing/, 'and no thread begins');
    }
  }

  const link = await connectDataPlane({
    env: {
      dataAdminToken: 'n'.repeat(40),
      dataAdminUrls: [],
      dataDirectory: data,
      crsDirectory,
      upstreams,
      settingsEncryptionSecret: secret,
    },
    database,
    now: () => 0,
  });
  const warming = link.warm();
  await link.close();
  t.match(
    await warming,
    /^the compile process is not warm .*: the server is closing; /,
    'the server logs a line and goes on closing',
  );
}

t.test('a warm-up that is cancelled', (t) => onBothDatabases(t, 'closing', suite));
