// 24: levels 2 to 4 with match scoring: what honest visits have besides is weighed, attacks stay refused, and nothing
// that is added to one frees it. With the CRS, in the oracle.
import fc from 'fast-check';
import t from 'tap';
import { withoutVersion4 } from '../../testing/core-rules.js';
import { inspectorOf, isBlocked, type Asked } from '../../testing/judged-requests.js';

const form = (fields: Readonly<Record<string, string>>): Asked => ({
  headers: ['Content-Type', 'application/x-www-form-urlencoded'],
  body: new URLSearchParams(fields).toString(),
});
const json = (value: unknown): Asked => ({
  headers: ['Content-Type', 'application/json'],
  body: JSON.stringify(value),
});
const get = (uri: string, headers: readonly string[] = []): Asked => ({ method: 'GET', uri, headers });

/** From which level the rules alone refuse them. */
const honest: readonly (readonly [from: number, name: string, asked: Asked])[] = [
  [2, 'a link to another host', get('/go?url=https://news.example/story?id=7&page=2')],
  [3, 'an identifier of dashes and dots', get('/', ['Cookie', 'visit=51f2a-0b9e.1728.$a-77~c|9!d(e)*f;_x=a~b~c~d~e'])],
  [2, 'a policy that a browser reports', json({ policy: "script-src 'self' https://a.example; img-src 'none' data:" })],
  [2, 'a document in a field', form({ d: '{"page":{"path":"/","title":"Lamps, tables","tags":["a","b"]}}' })],
  [3, 'a name with brackets', get('/list?colour[]=red&colour[]=blue')],
  [3, 'a piece of a film', get('/film.mp4', ['Range', 'bytes=0-1023'])],
  [3, 'a sentence of another language', form({ q: 'größe über 40 cm, weiß' })],
];

const attacks: readonly Asked[] = [
  get(`/item?id=${encodeURIComponent(`7' and 1=1 union select name,price from stock-- -`)}`),
  get(`/go?url=${encodeURIComponent('https://news.example/;cat /etc/passwd')}`),
  get('/', ['Cookie', `visit=51f2a' or 'a'='a`]),
  form({ d: `{"page":"<svg onload=alert(1)>"}` }),
  get('/list?colour[]=red&colour[]=1%27%20or%20sleep(5)--%20'),
  get('/film.mp4', ['Range', `bytes=${'0-,'.repeat(40)}1-`]),
  get('/view?file=..%2f..%2f..%2fetc%2fpasswd'),
];

for (const level of [2, 3, 4])
  t.test(`level ${level}`, { skip: withoutVersion4 }, async (t) => {
    const inspector = inspectorOf({ paranoia_level: level });
    for (const [from, name, asked] of honest) {
      if (level < from) continue;
      t.ok(isBlocked(inspector, null, asked), `${name}: refused by the rules alone`);
      t.notOk(isBlocked(inspector, 'enforce', asked), `${name}: goes on`);
    }
    for (const asked of attacks) {
      const said = `${asked.uri ?? ''} ${asked.headers?.join(': ') ?? ''} ${asked.body ?? ''}`;
      if (level > 2 || !said.includes('Range')) t.ok(isBlocked(inspector, 'enforce', asked), `refused: ${said}`);
    }
  });

t.test('nothing that is added to an attack frees it', { skip: withoutVersion4 }, async (t) => {
  const inspector = inspectorOf({ paranoia_level: 3 });
  const attack = encodeURIComponent(`7' union select name,price from stock-- -`);
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 30 }), { maxLength: 8 }), fc.nat(8), (texts, at) => {
      const fields = texts.map((text, index) => `f${index}=${encodeURIComponent(text)}`);
      const uri = `/item?${[...fields.slice(0, at), `id=${attack}`, ...fields.slice(at)].join('&')}`;
      return isBlocked(inspector, 'enforce', get(uri));
    }),
    { numRuns: 60, seed: Number(process.env['SEED'] ?? 20_261_129) },
  );
  t.pass('sixty requests');
});

t.test('an honest range beside another frees none', { skip: withoutVersion4 }, async (t) => {
  const inspector = inspectorOf({ paranoia_level: 3 });
  const many = `bytes=${'0-,'.repeat(40)}1-`;
  const [honest, other] = [
    ['Range', 'bytes=0-1'],
    ['range', many],
  ] as const;
  t.notOk(isBlocked(inspector, 'enforce', get('/film.mp4', honest)));
  t.ok(isBlocked(inspector, 'enforce', get('/film.mp4', [...honest, ...other])), 'behind it');
  t.ok(isBlocked(inspector, 'enforce', get('/film.mp4', [...other, ...honest])), 'before it');
});
