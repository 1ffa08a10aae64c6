// What mistakes on a command line and files that cannot be used come to: words for a person, and an exit code.
import { mkdirSync, readFileSync } from 'node:fs';
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
    [[...inspect, '--requests', folder, '-o', at('o')], 1, /inspect: .*d: is a folder/],
    [[...inspect, '--requests', requests, '-o', folder], 1, /inspect: EISDIR/],
    [[...inspect, '--requests', requests, '-o', missing], 1, /inspect: ENOENT/],
    [['explain', requests, '--rules', bad, ...engine], 1, /^gatehouse explain: The rules do not compile/],
    [['explain', missing, '--rules', good], 1, /cannot be read/],
    [['explain', folder, '--rules', good], 1, /d: cannot be read \(EISDIR/],
    [['rules', 'update', '--file', folder], 1, /d: cannot be read \(EISDIR/],
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

t.test('the release, for people and for programs', async (t) => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  for (const argv of [['version'], ['--version'], ['-V']])
    t.same(await captured(() => main(argv)), { code: 0, text: `gatehouse ${version}` }, argv.join(' '));
  const { code, text } = await captured(() => main(['version', '--json']));
  t.same(
    [code, JSON.parse(text)],
    [0, { release: version, node: process.versions.node, platform: process.platform, arch: process.arch }],
  );
  const told: string[] = [];
  const { error } = console;
  console.error = (line: string): void => void told.push(line);
  t.teardown(() => void (console.error = error));
  for (const more of ['now', '--yaml']) t.equal(await main(['version', more]), 2, more);
  t.match(told, [/not now/, /--yaml/]);
});

t.test('U11: rows of files that are not what they have to be are told with their place, without a stack', async (t) => {
  const { at } = setup(t);
  const good = at('r.conf', rules);
  const wire = Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n').toString('base64');
  const told: string[] = [];
  const { error } = console;
  console.error = (text: string): void => void told.push(text);
  t.teardown(() => void (console.error = error));
  const stage = (output: unknown): object => ({ id: 'x', file: 'a/b', stages: [{ wire_b64: wire, output }] });
  const cases: [string, unknown, RegExp][] = [
    ['a number', 5, /cases\.jsonl:2: a case has to be an object/],
    ['a list', [], /a case has to be an object/],
    ['null', null, /a case has to be an object/],
    ['nothing in it', {}, /:2: id has to be a string/],
    ['no file', { id: 'x' }, /file has to be a string/],
    ['no stages', { id: 'x', file: 'a' }, /stages has to be a list/],
    ['stages of no kind', { id: 'x', file: 'a', stages: [1] }, /stages\[0\] has to be an object/],
    ['no request', { id: 'x', file: 'a', stages: [{ output: {} }] }, /stages\[0\]\.wire_b64 has to be a string/],
    ['no output', stage(null), /stages\[0\]\.output has to be an object/],
    ['an expression that is none', stage({ log: { match_regex: '(' } }), /match_regex is no regular expression/],
    ['another', stage({ response_contains: '[' }), /response_contains is no regular expression/],
    ['ids that are none', stage({ log: { expect_ids: 942100 } }), /expect_ids has to be a list of rule ids/],
    ['a status of letters', stage({ status: '403' }), /output\.status has to be a number/],
  ];
  for (const [name, row, expected] of cases) {
    told.length = 0;
    const path = at('cases.jsonl', `\n${JSON.stringify(row)}\n`);
    t.equal(await runRuleCommand('ftw', ['--rules', good, '--cases', path, ...engine]), 1, name);
    t.match(told.join('\n'), expected, name);
  }
  const rowsOf: [unknown, RegExp][] = [
    [{ uri: '/', headers: { a: 'b' } }, /row 1: headers has to be a list of \[name, value\] pairs/],
    [{ uri: '/', headers: ['ab'] }, /row 1: headers has to be a list/],
    [{ uri: '/', headers: [['a']] }, /row 1: headers has to be a list/],
    [{ uri: '/', method: 5 }, /row 1: method has to be a string/],
    [{ uri: '/', body: {} }, /row 1: body has to be a string/],
    [{ uri: '/', response: 5 }, /row 1: response has to be an object/],
    [{ uri: '/', response: { status: 'x' } }, /row 1: response\.status has to be a number/],
    [{ uri: '/', response: { status: 200, headers: 'a' } }, /row 1: response\.headers has to be a list/],
    [[{ uri: '/' }], /row 1: the row has neither/],
  ];
  for (const [row, expected] of rowsOf) {
    told.length = 0;
    const path = at('rows.jsonl', `${JSON.stringify(row)}\n`);
    const args = ['--rules', good, '--requests', path, '-o', at('out.jsonl'), ...engine];
    t.equal(await runRuleCommand('inspect', args), 1, JSON.stringify(row));
    t.match(told.join('\n'), expected);
  }
});

t.test('U11: what every command does with words that it does not know, and with --help', async (t) => {
  const told: string[] = [];
  const { error } = console;
  console.error = (text: string): void => void told.push(text);
  t.teardown(() => void (console.error = error));
  const names = [
    'up',
    'data-plane',
    'control-plane',
    'reset-password',
    'demo',
    'compile',
    'inspect',
    'explain',
    'ftw',
    'rules',
  ];
  for (const name of names) {
    t.match(await captured(() => main([name, '--help'])), { code: 0, text: /gatehouse/ }, `${name} --help`);
    t.equal(await main([name, '--no-such-flag']), 2, `${name} --no-such-flag`);
    t.equal(await main([name, 'one', 'two', 'three']), 2, `${name} with words`);
  }
  t.equal(await main(['data-plane', '--artifact']), 2, 'a flag without its value');
  t.equal(await main(['reset-password', 'nobody']), 2, 'no address');
  t.equal(await main(['compile']), 2, 'compile without arguments');
  t.equal(await main(['inspect']), 2);
  t.equal(await main(['ftw']), 2);
  t.equal(await main(['explain']), 2);
  t.equal(await main(['help', 'me']), 0);
  t.notMatch(told.join('\n'), /\n\s+at /, 'no stack');
});
