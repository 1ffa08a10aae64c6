// A16: lists that people import and feeds deliver are read in time, whatever stands in them.
import t from 'tap';
import { findSlow, type Reader } from '#compiler/testing/time-bound';
import { readManagedFeed } from '../managed-feed/document.js';
import { toDenied } from '../addresses/denied.js';

const seed = Number(process.env['SEED'] ?? 20_261_121);

const pieces = [
  ...[
    '192.0.2.1',
    '/24',
    '\n',
    '#',
    ';',
    ' ',
    '2001:db8::',
    ':',
    '.',
    '1',
    '0',
    '::',
    '%',
    'x',
    '"',
    '{"ip":"',
    '[',
    ',',
    '\\u0031',
  ],
  ...['/', '-', '\t', '\r\n', 'ffff:', '1.', '[[', '{"a":', '],'],
];

/** Refusing is an answer, and it is to come in time, too. */
function attempt(read: () => unknown): void {
  try {
    read();
  } catch {
    return;
  }
}

const readers: readonly Reader[] = [
  { name: 'an entry', pieces, read: (text) => toDenied(text) },
  { name: 'a managed feed', pieces, read: (text) => attempt(() => readManagedFeed(Buffer.from(text, 'latin1'), null)) },
];

for (const reader of readers)
  t.test(`A16: ${reader.name} is read in time`, async (t) => {
    const { tried, slow } = findSlow(reader, seed);
    t.same(slow, [], `${tried} texts with seed ${seed}`);
  });
