import { cpSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { runRuleCommand } from '../main.js';

const signature = ['OWASP_CRS', '4.9.0'].join('/');

/** What a command says on standard error. */
async function run(argv: readonly string[]): Promise<{ code: number; said: string }> {
  const write = process.stderr.write;
  const { error } = console;
  let said = '';
  process.stderr.write = (text: string | Uint8Array): boolean => ((said += String(text)), true);
  console.error = (text: string): void => void (said += `${text}\n`);
  try {
    return { code: await runRuleCommand('compile', argv), said };
  } finally {
    process.stderr.write = write;
    console.error = error;
  }
}

t.test('compile checks settings and rules, and ends with the code that says so', async (t) => {
  const directory = t.testdir({
    crs: { rules: { 'REQUEST-901-INITIALIZATION.conf': `SecComponentSignature "${signature}"\n` } },
    'good.json': '{"mode":"DetectionOnly"}',
    'bad.json': '{"mode":"Maybe"}',
    'broken.json': '{',
    'good.conf': 'SecAction "id:1,phase:1,pass"\n',
    'bad.conf': 'SecAction "id:1,phase:9"\n',
  });
  const at = (name: string): string => join(directory, name);
  const cases: [string, string[], number, RegExp][] = [
    ['rules alone', ['--rules', at('good.conf')], 0, /^$/],
    ['rules with an error, at its place', ['--rules', at('*.conf')], 1, /bad\.conf:1:23: error GH-C4002/],
    ['settings', ['--settings', at('good.json'), '--crs', at('crs')], 0, /./],
    [
      'settings with an error, at its pointer',
      ['--settings', at('bad.json'), '--crs', at('crs')],
      1,
      /bad\.json cannot be used[^]*\/mode must be one of On, DetectionOnly\n *Fix the file\.\n/,
    ],
    ['no rule set there', ['--settings', at('good.json'), '--crs', at('nowhere')], 1, /GH-C7003/],
    ['settings that are no JSON', ['--settings', at('broken.json'), '--crs', at('crs')], 1, /is not JSON/],
    ['settings that are not there', ['--settings', at('absent.json'), '--crs', at('crs')], 1, /cannot be read/],
    ['a pattern without files', ['--rules', at('*.none')], 2, /no file matches/],
    ['an unknown option', ['--nope'], 2, /--nope/],
  ];
  for (const [name, argv, code, pattern] of cases) {
    const outcome = await run(argv);
    t.equal(outcome.code, code, name);
    t.match(outcome.said, pattern, name);
  }
  const { GATEHOUSE_DATA } = process.env;
  process.env['GATEHOUSE_DATA'] = at('data');
  t.teardown(
    () =>
      void (GATEHOUSE_DATA === undefined
        ? delete process.env['GATEHOUSE_DATA']
        : (process.env['GATEHOUSE_DATA'] = GATEHOUSE_DATA)),
  );
  t.match(
    await run(['--rules', at('good.conf'), '-o', at('crs')]),
    { code: 1, said: /^gatehouse compile: EISDIR/ },
    'an output that cannot be written',
  );
  t.same(
    readdirSync(directory).filter((name) => name.endsWith('.tmp')),
    [],
    'leaves nothing behind',
  );
});

t.test(
  'U11: compile takes the rule set that is in use, as `up` does, and not the newest or the last by name',
  async (t) => {
    const directory = t.testdir({
      crs: { rules: { 'REQUEST-901-INITIALIZATION.conf': `SecComponentSignature "${signature}"\n` } },
      'settings.json': '{}',
    });
    const at = (name: string): string => join(directory, name);
    for (const name of ['3.3.9', '4.9.0', 'debian-3.3']) {
      mkdirSync(at(`data/crs/${name}`), { recursive: true });
      cpSync(at('crs'), at(`data/crs/${name}`), { recursive: true });
    }
    for (const broken of ['4.9.0', 'debian-3.3'])
      writeFileSync(at(`data/crs/${broken}/rules/REQUEST-942-BROKEN.conf`), 'SecNonsense\n');
    const { GATEHOUSE_DATA, CRS_DIR } = process.env;
    Object.assign(process.env, { GATEHOUSE_DATA: at('data'), CRS_DIR: '' });
    t.teardown(() => {
      for (const [name, value] of Object.entries({ GATEHOUSE_DATA, CRS_DIR })) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    });
    const choose = (version: string): void => writeFileSync(at('data/crs/current.json'), JSON.stringify({ version }));
    t.match(await run(['--settings', at('settings.json')]), { code: 1, said: /4\.9\.0\/rules\/REQUEST-942-BROKEN/ });
    choose('3.3.9');
    t.match(await run(['--settings', at('settings.json')]), { code: 0 });
    choose('4.9.0');
    t.match(await run(['--settings', at('settings.json')]), { code: 1 });
    choose('4.7.0');
    t.match(await run(['--settings', at('settings.json')]), { code: 1 }, 'one that is not there: the newest');
    t.match(await run([]), { code: 2, said: /Usage: gatehouse compile/ }, 'without arguments');
  },
);
