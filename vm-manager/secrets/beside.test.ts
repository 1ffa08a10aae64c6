// Secrets whose name stands in another member of the record.
import t from 'tap';
import { secretsBeside } from './beside.js';

const secret = 'Tr0ub4dor-Zq9!x';

t.test('22 Q5: values beside their names', async (t) => {
  for (const [told, param, isCredential, expected] of [
    [[{ param: 'password', attack: secret }], undefined, false, [secret]],
    [[{ attack: secret }], 'new_password', false, [secret]],
    [[{ name: 'api_key', value: secret }], undefined, false, [secret]],
    [[{ request: { headers: [{ name: 'X-Auth-Token', value: secret }] } }], undefined, false, [secret]],
    [[{ 'extracted-results': [secret, 'a b'] }], undefined, true, [secret]],
    [[{ 'extracted-results': ['v1.2.3'] }], undefined, false, []],
    [[{ param: 'id', attack: secret }], undefined, false, []],
    [[{ param: 'password', attack: "' OR '1'='1" }], 'password', false, []],
    [[{ param: 'password', attack: '<script>alert(1)</script>' }], undefined, false, []],
    [[null, 'text', 7], 'password', true, []],
  ] as const)
    t.same(secretsBeside(told, param, isCredential), expected, JSON.stringify(told));
});
