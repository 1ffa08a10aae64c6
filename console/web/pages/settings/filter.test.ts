import t from 'tap';
import { boundsOf } from './bounds.js';
import { defaultOf, fits, isDefault } from './filter.js';
import type { SettingSchema } from './schema.js';

const size: SettingSchema = {
  ...{ type: 'integer', minimum: 256, maximum: 65_536, default: 8192, 'x-unit': 'bytes' },
  description: 'longest request target; beyond it 414',
};
const limits: SettingSchema = { type: 'object', properties: { uri_bytes_max: size } };
const mode: SettingSchema = { type: 'string', enum: ['On', 'Off'], default: 'On', description: 'what rules do' };
const list: SettingSchema = { type: 'array', items: { type: 'string' }, default: [] };

t.test('what differs from its default is known', async (t) => {
  for (const [schema, value, expected] of [
    [size, 8192, true],
    [size, 8193, false],
    [size, '8 apples', false],
    [limits, { uri_bytes_max: 8192 }, true],
    [limits, { uri_bytes_max: 1 }, false],
    [mode, 'On', true],
    [mode, 'Off', false],
    [list, [], true],
    [list, ['a'], false],
    [{ type: 'string' }, '', true],
    [{ type: 'string' }, '********', false],
    [{ ...limits, default: {} }, { uri_bytes_max: 8192 }, true],
    [{ ...limits, default: { uri_bytes_max: 1024 } }, { uri_bytes_max: 1024 }, true],
    [{ ...limits, default: { a: 1, b: [] } }, { b: [], uri_bytes_max: 8192, a: 1 }, true],
    [{ anyOf: [limits, { type: 'null' }], default: null }, null, true],
    [{ anyOf: [limits, { type: 'null' }], default: null }, { uri_bytes_max: 8192 }, false],
  ] as const)
    t.equal(isDefault(schema, value), expected, JSON.stringify(value));
  t.same(defaultOf(limits), { uri_bytes_max: 8192 });
});

t.test('settings are found by words of theirs, of their members and of their group', async (t) => {
  for (const [name, schema, typed, expected] of [
    ['limits', limits, 'request target', true],
    ['limits', limits, 'URI_bytes', true],
    ['limits', limits, '414 longest', true],
    ['limits', limits, 'cookies', false],
    ['mode', mode, 'rule set', true],
    ['mode', mode, '', true],
  ] as const)
    t.equal(fits(name, schema, typed), expected, `${name}: ${typed}`);
});

t.test('range and default are one line, in the unit of the field', async (t) => {
  t.equal(boundsOf(size), '256 B to 64 KiB · default: 8 KiB');
  t.equal(boundsOf(mode), 'default: On');
  t.equal(boundsOf({ type: 'integer', minimum: 1, maximum: 50_000, default: 1000 }), '1 to 50,000 · default: 1,000');
  const share: SettingSchema = { type: 'integer', minimum: 1, maximum: 100, 'x-unit': 'percent' };
  t.equal(boundsOf(share), '1 to 100 percent');
  t.equal(boundsOf({ type: 'boolean', default: false }), 'default: off');
  t.equal(boundsOf(list), '');
});
