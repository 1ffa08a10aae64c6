import fc from 'fast-check';
import t from 'tap';
import { SeenOnce } from './seen-once.js';

const seed = Number(process.env['SEED'] ?? 20_261_123);

t.test('a text is new once, and seen when it comes again', (t) => {
  fc.assert(
    fc.property(fc.string({ maxLength: 200 }), (text) => {
      const once = new SeenOnce();
      return !once.wasSeen(text) && once.wasSeen(text) && once.wasSeen(`${text} `.slice(0, -1));
    }),
    { seed },
  );
  t.end();
});

t.test('few others of a thousand count as seen by mistake, and an early text is forgotten behind many', (t) => {
  const once = new SeenOnce();
  let mistaken = 0;
  for (let index = 0; index < 1000; index += 1) if (once.wasSeen(`token-${index}-${index * 7919}`)) mistaken += 1;
  t.ok(mistaken < 5, `${mistaken} mistaken`);
  for (let index = 0; index < 100_000; index += 1) once.wasSeen(`other ${index}`);
  t.equal(once.wasSeen('token-0-0'), false);
  t.end();
});
