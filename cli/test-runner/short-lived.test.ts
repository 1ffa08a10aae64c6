// The options have to be ones that each Node.js takes, and keep what WebAssembly is used for running.
import { execFileSync } from 'node:child_process';
import t from 'tap';
import { shortLivedOptions } from './short-lived.js';

/** (module (func (export "f") (result i32) (i32.const 7))) */
const seven = '0061736d010000000105016000017f03020100070501016600000a0601040041070b';
const script = `const { instance } = await WebAssembly.instantiate(Buffer.from('${seven}', 'hex'));
  console.log(instance.exports.f());`;

for (const memoryBytes of [4e9, 64e9])
  t.test(`a machine of ${memoryBytes / 1e9} GB`, (t) => {
    const options = shortLivedOptions(memoryBytes);
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
      env: { NODE_OPTIONS: options },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    t.equal(said, '7\n');
    t.equal(options.includes('semi-space'), memoryBytes > 8e9, 'a small machine keeps small heaps');
    t.end();
  });
