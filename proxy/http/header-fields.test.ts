// Names of fields, compared letter by letter, beside the comparison of whole strings.
import fc from 'fast-check';
import t from 'tap';
import { findField, isNamed, joinedField } from './header-fields.js';

const token = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,12}$/);
const runs = { seed: Number(process.env['SEED'] ?? 20_261_122), numRuns: 500 };
const byte = fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code));

t.test('8: a name is compared as its lower case is', async (t) => {
  t.comment(`seed ${runs.seed}`);
  fc.assert(
    fc.property(token, token, (name, other) => {
      const lower = other.toLowerCase();
      return isNamed(name, lower) === (name.toLowerCase() === lower) && isNamed(other.toUpperCase(), lower);
    }),
    runs,
  );
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 6 }), token, (bytes, other) => {
      const name = bytes.join('');
      return isNamed(name, other.toLowerCase()) === (name.toLowerCase() === other.toLowerCase());
    }),
    runs,
  );
  // A letter and what is 32 beyond it, one byte apart in every direction.
  for (let code = 0; code < 256; code += 1)
    for (const wanted of ['a', 'z', '-', '_', '0', '@', '[', '`', '{']) {
      const name = String.fromCharCode(code);
      t.equal(isNamed(name, wanted), name.toLowerCase() === wanted, `${code} ${wanted}`);
    }
});

t.test('8: the first of several fields, and all of them as one list', async (t) => {
  const headers = ['Accept', 'a', 'COOKIE', 'b', 'cookie', 'c', 'Expect', 'd'];
  t.equal(findField(headers, 'cookie'), 'b');
  t.equal(joinedField(headers, 'cookie'), 'b, c');
  t.equal(findField(headers, 'cooki'), null);
  t.equal(joinedField(headers, 'host'), null);
});
