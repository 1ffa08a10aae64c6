// What the pictures of a report show, and which logos are drawn.
import { crc32, deflateSync } from 'node:zlib';
import t from 'tap';
import { showIn } from '../time-zone.js';
import { toPdf } from '../pdf.js';
import { toHtml } from '../render.js';
import type { Report, Section } from '../report.js';
import { drawChart, roundUp, type Drawn } from './charts.js';
import { drawableLogo } from '../../branding/drawable.js';

const textsOf = ({ shapes }: Drawn): string[] => shapes.flatMap((one) => (one.at === 'text' ? [one.text] : []));
const boxesOf = ({ shapes }: Drawn) => shapes.flatMap((one) => (one.at === 'rect' ? [one] : []));

t.test('bars are as long as their values, and say them', (t) => {
  const bars = Array.from({ length: 12 }, (_, at) => ({ label: `bar ${at}`, value: 1200 - at * 100 }));
  const drawn = drawChart({ kind: 'bars', title: 'Bars', bars }, 400, '#123456');
  t.strictSame(textsOf(drawn).slice(0, 3), ['Bars', 'bar 0', '1,200']);
  const lengths = boxesOf(drawn).map(({ box }) => box[2]);
  t.equal(lengths.length, 8, 'the first eight');
  t.equal((lengths[4] ?? 0) / (lengths[0] ?? 0), 800 / 1200);
  for (const { box, fill } of boxesOf(drawn)) {
    t.equal(fill, '#123456');
    t.ok(box[0] + box[2] <= 400 && box[1] + box[3] <= drawn.height);
  }
  const none = drawChart({ kind: 'bars', title: 'x', bars: [{ label: 'a', value: 0 }] }, 400, '#123456');
  t.strictSame([textsOf(none), boxesOf(none).length], [['x', 'a', '0'], 0]);
  t.end();
});

t.test('columns are stacked or beside each other, on a scale of round numbers', (t) => {
  t.strictSame([0, 1, 3, 11, 499, 501].map(roundUp), [1, 1, 5, 20, 500, 1000]);
  const columns = Array.from({ length: 100 }, (_, at) => ({ label: `d${at}`, values: [at, 10] as const }));
  for (const kind of ['stacked', 'beside'] as const) {
    const drawn = drawChart({ kind, title: 'Days', names: ['one', 'two'], columns }, 370, '#123456');
    const top = kind === 'stacked' ? '200' : '100';
    t.ok(textsOf(drawn).includes(top), `${kind}: the scale ends at ${top}`);
    t.ok(textsOf(drawn).includes('d8') && !textsOf(drawn).includes('d7'), 'the last 92');
    const second = boxesOf(drawn).filter(({ fill }) => fill === '#123456');
    t.equal(second.length, 1 + 92);
    for (const { box } of boxesOf(drawn))
      t.ok(box[0] >= 0 && box[0] + box[2] <= 370.001 && box[1] >= 0 && box[1] + box[3] <= drawn.height, kind);
    const [legend, first] = second;
    t.same([legend?.box[2], Math.round((first?.box[3] ?? 0) * 100)], [8, Math.round((10 / Number(top)) * 11_000)]);
  }
  t.same(textsOf(drawChart({ kind: 'stacked', title: 'x', names: ['a', 'b'], columns: [] }, 300, '#123456')).length, 5);
  t.end();
});

const chunk = (type: string, body: Buffer): Buffer => {
  const [head, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  head.writeUInt32BE(body.length);
  const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([head, named, sum]);
};
interface Png {
  readonly width?: number;
  readonly height?: number;
  readonly depth?: number;
  readonly colour?: number;
  readonly pixels?: Buffer;
}
function png({ width = 4, height = 4, depth = 8, colour = 6, pixels }: Png = {}): Buffer {
  const facts = Buffer.alloc(13);
  facts.writeUInt32BE(width, 0);
  facts.writeUInt32BE(height, 4);
  facts.set([depth, colour], 8);
  const drawn = pixels ?? deflateSync(Buffer.alloc((width * (colour === 6 ? 4 : 1) + 1) * height, 2));
  const parts = [chunk('IHDR', facts), chunk('IDAT', drawn), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}

const section: Section = {
  title: 'S',
  figures: [['Things', 3]],
  columns: [{ name: 'Name', width: 769 }],
  rows: [],
  none: 'None.',
  charts: [{ kind: 'bars', title: 'Bars <of> "things"', bars: [{ label: '<script>', value: 3 }] }],
  members: {},
};
const reportWith = (logo: Buffer | null): Report => ({
  title: 'T',
  scope: 'The organisation',
  generated_at: new Date(0).toISOString(),
  shown_at: showIn('UTC', new Date(0)),
  brand: { name: 'Acme', tagline: null, accent: '#0f766e', logo },
  sections: [section],
});

t.test('a logo is drawn where its pixels are what the file says, and left out otherwise', async (t) => {
  const good = png();
  t.same(await drawableLogo(good), good);
  const words = chunk('tEXt', Buffer.from('x'.repeat(1000)));
  t.same(await drawableLogo(Buffer.concat([good.subarray(0, 33), words, good.subarray(33)])), good, 'what it needs');
  const bomb = png({ pixels: deflateSync(Buffer.alloc(50_000_000)) });
  const bad: Readonly<Record<string, Buffer>> = {
    'no PNG': Buffer.from('GIF89a'),
    'nothing of it': Buffer.alloc(0),
    'cut off': good.subarray(0, 50),
    'no pixels': png({ pixels: Buffer.alloc(0) }),
    'pixels that are not packed': png({ pixels: Buffer.from('x') }),
    'too few pixels': png({ pixels: deflateSync(Buffer.alloc(10)) }),
    'more pixels than it says': bomb,
    'too many pixels': png({ width: 1024, height: 1024 }),
    'a filter that there is not': png({ pixels: deflateSync(Buffer.alloc(17 * 4, 5)) }),
    'no end': good.subarray(0, -12),
    'sixteen bits': png({ depth: 16 }),
    'no palette': png({ colour: 3 }),
    'no colour type': png({ colour: 5 }),
    'no width': png({ width: 0 }),
    'a width that overflows': png({ width: 0xffffffff, height: 0xffffffff, pixels: deflateSync(Buffer.alloc(9)) }),
  };
  for (const [name, file] of Object.entries(bad)) t.equal(await drawableLogo(file), null, name);
  const images = async (logo: Buffer | null) =>
    (await toPdf(reportWith(logo))).toString('latin1').split('/Image').length;
  t.ok((await images(await drawableLogo(good))) > (await images(null)), 'it is in the document');
});

t.test('HTML has charts as pictures with a name, escaped and in the colour of the brand', (t) => {
  const html = toHtml(reportWith(null));
  t.match(html, 'aria-label="Bars &lt;of&gt; &quot;things&quot;"');
  t.match(html, /<rect x="152" y="20" width="[\d.]+" height="15" fill="#0f766e"\/>/);
  t.notOk(html.includes('<script'));
  t.end();
});
