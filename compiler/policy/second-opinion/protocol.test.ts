// 24: rules about how a request is written, weighed by the rest of it: honest requests go on, attacks in the same
// clothes are refused, and what the installation narrowed is obeyed. With the CRS, in the oracle.
import t from 'tap';
import type { Inspector } from '#engine';
import { usualContentTypes } from '#settings';
import { withoutVersion4 } from '../../testing/core-rules.js';
import { inspectorOf, isBlocked, type Asked } from '../../testing/judged-requests.js';

const type = (value: string): string[] => ['Content-Type', value];
const away = ['Referer', 'https://news.example/'];
const get = { method: 'GET' } as const;

const honest: Readonly<Record<string, Asked>> = {
  'a beacon without a type': { body: '{"seen":true}' },
  'a packed beacon': { body: '\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xab\x56\x00' },
  'a packed beacon with short signs in it': { body: '\x1f\x8b\x08\x00\x00$(a)\xf1\n b:\xc3`x`\xe9' },
  'another name of UTF-8': { headers: type('application/json; charset=utf8'), body: '{"a":1}' },
  'a type of a vendor': { headers: type('application/vnd.shop.basket'), body: 'lamp=2' },
  'a type of a vendor in JSON': { headers: type('application/vnd.shop+json'), body: '{"lamp":2}' },
  'the address of a mailbox': { ...get, uri: '/users/anna.b@example.com' },
  'escapes of a document in a form': {
    headers: type('application/x-www-form-urlencoded'),
    body: `d=${encodeURIComponent('{"title":"Lamp\\u2019s \\u0026 more"}')}`,
  },
  'a visit counted for a page': { ...get, uri: '/count?session_id=7', headers: [...away, 'Sec-Fetch-Mode', 'no-cors'] },
};

const attacks: Readonly<Record<string, Asked>> = {
  'SQL without a type': { body: "q=1' union select name, price from stock-- -" },
  'SQL without a type, encoded': { body: 'q=1%27%20or%20sleep(5)--%20' },
  'a command behind NUL': { body: '\0\0;cat /etc/passwd' },
  'a command behind the beginning of a packed body': { body: '\x1f\x8b\x08\x00&q=;cat /etc/passwd\xff' },
  'a short command behind NUL': { body: '\0\0\0\0q=$(id)' },
  'SQL behind it, with other white space': { body: "\x1f\x8b\x08\x00&q=1'\xa0or\xa0'1'='1" },
  'SQL under a type of a vendor': { headers: type('application/vnd.shop.basket'), body: "q=1' or 'a'='a" },
  'a type that brings objects to life': { headers: type('application/x-java-serialized-object'), body: 'x' },
  'a type near that of a form': { headers: type('application/x-www-form-urlencoded2'), body: 'a=1' },
  'a type of parts': { headers: type('multipart/mixed; boundary=x'), body: '--x\r\n\r\na\r\n--x--\r\n' },
  'an expression as a type': { headers: type("%{(#a='multipart/form-data')}"), body: 'a' },
  'another charset': { headers: type('application/json; charset=ibm037'), body: '{"a":1}' },
  'a program of DOS': { ...get, uri: '/bin/command.com' },
  'a program behind an at sign': { ...get, uri: '/x@/command.com' },
  'escapes that hide': { headers: type('application/x-www-form-urlencoded'), body: 'd=%5Cu0027x' },
  'escapes that hide in a document': {
    headers: type('application/x-www-form-urlencoded'),
    body: `d=${encodeURIComponent('{"a":"$\\u0026lbrace;x"}')}`,
  },
  'a link with a session': { ...get, uri: '/?session_id=7', headers: away },
  'a session of a server': { ...get, uri: '/?PHPSESSID=7', headers: [...away, 'Sec-Fetch-Mode', 'no-cors'] },
};

t.test('how a request is written counts by the rest of it', { skip: withoutVersion4 }, async (t) => {
  const inspector = inspectorOf({});
  for (const [name, asked] of Object.entries(honest)) {
    t.ok(isBlocked(inspector, null, asked), `${name}: refused by the rules alone`);
    t.notOk(isBlocked(inspector, 'enforce', asked), `${name}: goes on`);
  }
  for (const [name, asked] of Object.entries(attacks)) {
    t.ok(isBlocked(inspector, null, asked), `${name}: refused by the rules alone`);
    t.ok(isBlocked(inspector, 'enforce', asked), `${name}: stays refused`);
  }
});

t.test('a shortened list of types is obeyed, a longer one is weighed', { skip: withoutVersion4 }, async (t) => {
  const asked = { headers: type('application/vnd.shop.basket'), body: 'lamp=2' };
  const shorter = inspectorOf({ allowed_content_types: usualContentTypes.slice(1) });
  t.ok(isBlocked(shorter, 'enforce', asked));
  const longer = inspectorOf({ allowed_content_types: [...usualContentTypes, 'application/own'] });
  t.notOk(isBlocked(longer, 'enforce', asked));
});

t.test('24: match scoring denies nothing that a person excluded', { skip: withoutVersion4 }, async (t) => {
  const attack = `1' OR '1'='1' -- `;
  const at = (name: string, path = '/a'): Asked => ({ ...get, uri: `${path}?${name}=${encodeURIComponent(attack)}` });
  const excluding = (exclusion: object): Inspector =>
    inspectorOf({ rule_exclusions: [{ id: 1_009_500, rule_id: 942_100, reason: 'r', owner: 'o', ...exclusion }] });
  const ofMember = excluding({ target: 'ARGS:q' });
  t.notOk(isBlocked(ofMember, 'enforce', at('q')), 'the member');
  t.ok(isBlocked(ofMember, 'enforce', at('other')), 'another member');
  const ofPath = excluding({ path: '/a' });
  t.notOk(isBlocked(ofPath, 'enforce', at('q')), 'the path');
  t.ok(isBlocked(ofPath, 'enforce', at('q', '/b')), 'another path');
  t.ok(isBlocked(excluding({}), 'enforce', at('q')), 'a rule that is taken out everywhere says nothing of a value');
  const script = { ...get, uri: `/a?q=${encodeURIComponent('<script>alert(1)</script>')}` };
  t.ok(isBlocked(ofMember, 'enforce', script), 'another kind of attack');
});
