// What is typed into the settings of a tracker, as it is sent.
import t from 'tap';
import { fromRecord, kept, kindOf, toRecord, withMember } from './config-values.js';

t.test('members have the kind that their schema says', (t) => {
  t.equal(kindOf({ type: 'boolean' }), 'switch');
  t.equal(kindOf({ type: 'array' }), 'lines');
  t.equal(kindOf({ type: 'object', properties: {} }), 'table');
  t.equal(kindOf({ type: 'object' }), 'record');
  t.equal(kindOf({ type: 'string', maxLength: 10_000 }), 'area');
  t.equal(kindOf({ type: 'string', maxLength: 300 }), 'text');
  t.end();
});

t.test('further fields are lines, with JSON where a field has choices', (t) => {
  const fields = { customfield_1: '{{application}}', customfield_2: { value: '{{severity}}' }, team: 'a = b' };
  t.same(fromRecord(toRecord(fields)), fields);
  t.same(fromRecord('x\n\n y = 1 '), { x: '', y: '1' });
  t.end();
});

t.test('what holds nothing is not sent', (t) => {
  t.same(withMember({ url: 'u', title: 't' }, 'title', ''), { url: 'u' });
  t.same(withMember({ url: 'u' }, 'priorities', { high: 'High', low: '' }), { url: 'u', priorities: { high: 'High' } });
  t.same(withMember({ url: 'u', priorities: { high: 'x' } }, 'priorities', { high: '' }), { url: 'u' });
  t.same(withMember({}, 'confidential', false), { confidential: false });
  t.same(kept({ url: 'u', project: 'SEC' }, { properties: { url: {} } }), { url: 'u' });
  t.end();
});
