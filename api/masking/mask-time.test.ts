// A16: masks meet whatever clients send; the time that they take is bound to the length of the text, also for texts
// that nobody thought of (`make fuzz` draws 1,000 of them for each mask).
import t from 'tap';
import { maskBody, maskDetails, maskHeaders, maskText, maskUri } from '#proxy/contract';
import { findSlow, type Reader } from '#compiler/testing/time-bound';

const seed = Number(process.env['SEED'] ?? 1);

const pieces = [
  'name="a"\r\n\r\nx\r\n',
  'Content-Disposition: form-data; name="password"\r\n',
  'name="',
  '"password":',
  '"a" : "',
  '\\"',
  '"',
  '<a>',
  '<pass ',
  '</a>',
  'a=&',
  'token=',
  'password[',
  '%5d',
  '%40',
  '%',
  'a@a.',
  '4111 1111 1111 111',
  '+1 (',
  '123-45-678',
  'GB22 ',
  'eyJaaaaaa.aa.',
  'Bearer ',
  'github_pat_a',
  'variable `ARGS:',
  ';a=',
  '\r\n',
  '\n',
  ' ',
  'a',
  '\u00e9',
  '\u0000',
];

const reader = (name: string, read: (text: string) => unknown): Reader => ({ name, pieces, read, bytesMax: 65_536 });

const readers: readonly Reader[] = [
  reader('maskBody', (text) => maskBody(text, 'personal')),
  reader('maskText', (text) => maskText(text, 'personal')),
  reader('maskUri', (text) => maskUri(`/a?${text}`, 'personal')),
  reader('maskHeaders', (text) => maskHeaders(['Cookie', text, 'Referer', text], 'personal')),
  reader('maskDetails', (text) => maskDetails({ messages: [{ match: text, data: text }] }, 'personal')),
];

for (const one of readers)
  t.test(`A16: ${one.name} keeps to the time of its length`, async (t) => {
    const { tried, slow } = findSlow(one, seed);
    t.same(slow, [], `${tried} texts with seed ${seed}`);
  });
