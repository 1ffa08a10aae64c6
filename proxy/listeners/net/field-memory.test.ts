// Texts that are taken from the request before are those of this one, whatever came in between.
import t from 'tap';
import { RepeatedTexts } from '../uws/repeated-texts.js';
import { FieldMemory } from './field-memory.js';
import { HeadParser } from './head-parser.js';

const limits = { uriBytesMax: 8192, headerBytesMax: 1_000_000, headerFieldsMax: 1000 };

/** A small linear congruential generator. */
function chooser(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 4_294_967_296) * below);
  };
}

t.test('8: heads of many clients are read as by a parser that remembers nothing', async (t) => {
  const fields = new FieldMemory();
  const choose = chooser(8);
  const values = ['', 'a', 'b', 'aa', 'ab', '\u00e4\u00ff', 'x'.repeat(511), 'x'.repeat(512), 'x'.repeat(513)];
  values.push(`${'x'.repeat(511)}y`, `y${'x'.repeat(511)}`);
  const wrong: string[] = [];
  for (let round = 0; round < 3000; round += 1) {
    const wanted: string[] = [];
    const count = choose(10) === 0 ? 100 : choose(6);
    for (let field = 0; field < count; field += 1)
      wanted.push(choose(3) === 0 ? `N${choose(3)}` : 'Name', values[choose(values.length)] as string);
    let text = 'GET / HTTP/1.1\r\n';
    for (let at = 0; at < wanted.length; at += 2) text += `${wanted[at]}: ${wanted[at + 1]}\r\n`;
    const bytes = Buffer.from(`${text}\r\n`, 'latin1');
    const parser = new HeadParser(() => limits, fields);
    const cut = choose(bytes.length); // in two pieces, so that some heads are read from a copy
    parser.push(Buffer.from(bytes.subarray(0, cut)));
    parser.push(bytes.subarray(cut));
    const { headers = [] } = parser.take() ?? {};
    if (JSON.stringify(headers) !== JSON.stringify(wanted)) wrong.push(JSON.stringify(wanted).slice(0, 200));
    bytes.fill(0x7a); // the buffer that all connections read into
  }
  t.strictSame(wrong, []);
});

t.test('8: a place whose texts never repeat, and one behind the last, are read all the same', async (t) => {
  const fields = new FieldMemory();
  const read = (place: number, text: string): string =>
    fields.read(place, Buffer.from(text, 'latin1'), 0, text.length, text);
  t.equal(read(0, 'same'), read(0, 'same'));
  const wrong = Array.from({ length: 1000 }, (_, nth) => `token ${nth}`).filter((text) => read(1, text) !== text);
  t.strictSame(wrong, []);
  for (let nth = 0; nth < 200; nth += 1) read(1, 'settled');
  t.equal(read(1, 'settled'), 'settled');
  t.equal(read(127, 'last'), 'last');
  t.equal(read(128, 'behind'), 'behind', 'a place behind the last');
});

t.test('8: texts of the other library are what its decoder makes of them', async (t) => {
  const decode = (text: string): string => Buffer.from(text, 'utf8').toString('latin1');
  const texts = new RepeatedTexts(decode);
  const choose = chooser(9);
  const values = ['', 'a', 'b', '\u00e4', '\u20ac', 'x'.repeat(512), 'x'.repeat(513)];
  const wrong: string[] = [];
  for (let round = 0; round < 20_000; round += 1) {
    const value = values[choose(values.length)] as string;
    const place = choose(130);
    if (texts.read(place, value) !== decode(value)) wrong.push(`${place} ${value}`);
  }
  t.strictSame(wrong, []);
});
