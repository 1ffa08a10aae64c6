// The options have to be ones that each Node.js takes, and keep what WebAssembly is used for running.
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { shortLivedOptions } from './short-lived.js';

/** (module (func (export "f") (result i32) (i32.const 7))) */
const seven = '0061736d010000000105016000017f03020100070501016600000a0601040041070b';
const script = `const { instance } = await WebAssembly.instantiate(Buffer.from('${seven}', 'hex'));
  console.log(instance.exports.f());`;

const cases: readonly (readonly [name: string, text: string, memoryBytes: number, isRoomy: boolean])[] = [
  ['a machine of 4 GB', '', 4e9, false],
  ['a machine of 64 GB', '', 64e9, true],
  ['a test of heaps', 'a worker whose heap fills', 64e9, false],
];
for (const [name, text, memoryBytes, isRoomy] of cases)
  t.test(name, (t) => {
    const options = shortLivedOptions(['', text], memoryBytes);
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { NODE_OPTIONS: options },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.equal(said, '7\n', 'Node.js takes them, and WebAssembly runs');
    t.equal(options.includes('semi-space'), isRoomy);
    t.end();
  });
