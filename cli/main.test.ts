// What mistakes on a command line and files that cannot be used come to: words for a person, and an exit code.
import { mkdirSync } from 'node:fs';
import t from 'tap';
import { runExplain } from './commands/explain.js';
import { runFtw } from './commands/ftw.js';
import { runInspect } from './commands/inspect.js';
import { main, runRuleCommand } from './main.js';
import { loadRules } from './rules/load-rules.js';
import { captured, engine, rules, setup } from './testing/rule-command.js';
import { usage } from './usage.js';

t.test('mistakes on the command line are told in words', async (t) => {
  const { at } = setup(t);
  const good = at('r.conf', rules);
  await t.rejects(runInspect(['--rules', good]), /needs --requests/);
  await t.rejects(
    runInspect(['--rules', good, '--requests', good, '-o', at('o'), '--phases', '2-3', ...engine]),
    /begins with 1/,
  );
  await t.rejects(runExplain([]), /one file/);
  await t.rejects(runExplain([good, '--rules', good, '--engine', 'fast']), /compiled or interpreter/);
  await t.rejects(runFtw(['--rules', good]), /--cases/);
  t.throws(() => loadRules([]), /No rules/);
  t.throws(() => loadRules([at('none*.conf')]), /no file matches/);
  t.throws(() => loadRules([at('bad.conf', 'SecRule ARGS "@nope x" "id:1"')]), /do not compile[^]*bad\.conf/);
});

t.test('files that cannot be used are told in one line, with the exit code of the help', async (t) => {
  const { at } = setup(t);
  const good = at('r.conf', rules);
  const bad = at('bad.conf', 'SecRule ARGS "@nope x" "id:1"');
  const requests = at('in.jsonl', '{"uri":"/"}\n');
  const folder = at('d');
  mkdirSync(folder);
  const missing = at('no/such');
  const inspect = ['inspect', '--rules', good, ...engine];
  const told: string[] = [];
  const { error } = console;
  console.error = (text: string): void => void told.push(text);
  t.teardown(() => void (console.error = error));
  const cases: [string[], number, RegExp][] = [
    [[...inspect, '--requests', missing, '-o', at('o')], 1, /inspect: ENOENT/],
    [[...inspect, '--requests', folder, '-o', at('o')], 1, /inspect: EISDIR/],
    [[...inspect, '--requests', requests, '-o', folder], 1, /inspect: EISDIR/],
    [[...inspect, '--requests', requests, '-o', missing], 1, /inspect: ENOENT/],
    [['explain', requests, '--rules', bad, ...engine], 1, /^gatehouse explain: The rules do not compile/],
    [['explain', missing, '--rules', good], 1, /cannot be read/],
    [['inspect', '--bogus'], 2, /--bogus/],
  ];
  for (const [argv, code, expected] of cases) {
    const [name = '', ...args] = argv;
    told.length = 0;
    t.equal(await runRuleCommand(name, args), code, argv.join(' '));
    t.match(told.join('\n'), expected);
    if (!argv.includes(bad)) t.equal(told.join('\n').split('\n').length, 1, 'one line');
  }
});

t.test('help and unknown commands', async (t) => {
  for (const argv of [[], ['help'], ['--help'], ['-h']])
    t.same(await captured(() => main(argv)), { code: 0, text: usage });
  const told: string[] = [];
  const { error } = console;
  console.error = (text: string): void => void told.push(text);
  t.teardown(() => void (console.error = error));
  for (const name of ['nothing', 'constructor', '--nope']) t.equal(await main([name]), 2, name);
  t.equal(told[0], `gatehouse: there is no command "nothing".\n\n${usage}`);
});
