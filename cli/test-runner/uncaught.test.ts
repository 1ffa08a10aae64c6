// Uncaught errors fail the test during which they are thrown (bin/tap-domain.mjs).
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { root } from '../environment/directories.js';

const tap = join(root, 'build/node_modules/tap/index.js');
const pause = 'await new Promise((end) => setTimeout(end, 60));';

const cases: readonly (readonly [name: string, text: string, failed: readonly string[], passed: readonly string[]])[] =
  [
    [
      'a callback throws',
      `t.test('one', async (t) => { setTimeout(() => { throw new Error('late'); }, 5); ${pause} });
     t.test('two', async (t) => t.pass());`,
      ['late', 'one'],
      ['two'],
    ],
    [
      'a promise is rejected',
      `t.test('one', async (t) => { void Promise.reject(new Error('lost')); ${pause} });
     t.test('two', async (t) => t.pass());`,
      ['lost', 'one'],
      ['two'],
    ],
    [
      'in a test inside a test',
      `t.test('outer', async (t) => {
       await t.test('inner', async () => { process.nextTick(() => { throw new Error('deep'); }); ${pause} });
       t.pass('after it');
     });`,
      ['deep', 'inner', 'outer'],
      ['after it'],
    ],
    [
      'left behind by a test that is over',
      `t.test('one', async (t) => { setTimeout(() => { throw new Error('behind'); }, 20); t.pass(); });
     t.test('two', async (t) => { ${pause} t.pass(); });`,
      ['behind', 'two'],
      ['one'],
    ],
    [
      'before any test',
      `setTimeout(() => { throw new Error('outside'); }, 20); t.test('one', async (t) => { ${pause} t.pass(); });`,
      ['outside', 'one'],
      [],
    ],
    [
      'a file whose tests take their errors',
      `process.on('uncaughtException', () => t.pass('taken'));
     setTimeout(() => { throw new Error('own'); }, 5); t.test('one', async (t) => { ${pause} });`,
      [],
      ['taken', 'one'],
    ],
  ];
const skip = existsSync(tap) ? false : 'tap is not fused: node bin/build.mjs';
for (const [name, text, failed, passed] of cases)
  t.test(name, { skip }, (t) => {
    const script = `import t from ${JSON.stringify(pathToFileURL(tap).href)};\n${text}`;
    const file = join(t.testdir({ 'a.mjs': script }), 'a.mjs');
    const { status, stdout } = spawnSync(process.execPath, [file], { encoding: 'utf8' });
    t.equal(status === 0, failed.length === 0, 'the file fails with its tests');
    for (const name of failed) t.match(stdout, new RegExp(`^ *not ok \\d+ - ${name}\\b`, 'm'));
    for (const name of passed) t.match(stdout, new RegExp(`^ *ok \\d+ - ${name}\\b`, 'm'));
    t.end();
  });
