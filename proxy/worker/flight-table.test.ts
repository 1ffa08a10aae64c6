// What a table says of the requests under way is what was written of them, cut at the end of a slot.
import t from 'tap';
import { FlightTable, flightTableBytes, readFlights } from './flight-table.js';

/** Of method, client, id and target together, with three separators between them. */
const slotTextMax = 510;

t.test('8: a request is recorded in whatever lengths its parts have', async (t) => {
  const table = new FlightTable(new ArrayBuffer(flightTableBytes));
  const wrong: string[] = [];
  for (const idLength of [1, 26, 64, 65, 128])
    for (let length = 1; length < 620; length += 1) {
      const uri = `/${'äb'.repeat(310).slice(0, length - 1)}`;
      const requestId = 'R'.repeat(idLength);
      const slot = table.begin('GET', uri, '192.0.2.1', requestId);
      table.enter(slot);
      const { current } = table.flights();
      const room = slotTextMax - 'GET\n192.0.2.1\n\n'.length - idLength;
      const isRight =
        current?.method === 'GET' &&
        current.client === '192.0.2.1' &&
        current.requestId === requestId &&
        current.uri === uri.slice(0, room);
      if (!isRight) wrong.push(`${idLength}, ${length}: ${JSON.stringify(current)}`);
      table.leave();
      table.end(slot);
    }
  t.strictSame(wrong, []);
});

t.test('8: parts that leave no room for what follows are cut, and touch no other slot', async (t) => {
  const buffer = new ArrayBuffer(flightTableBytes);
  const table = new FlightTable(buffer);
  const first = table.begin('GET', '/first', '192.0.2.1', 'A');
  const second = table.begin('GET', '/second', '192.0.2.2', 'B');
  t.equal(second - first, 1, 'the slot behind it');
  table.end(first);
  for (const [method, client, id] of [
    ['M'.repeat(600), 'c', 'i'],
    ['M'.repeat(510), 'c', 'i'],
    ['M', 'c'.repeat(508), 'i'],
    ['M', 'c'.repeat(509), 'i'],
    ['M', 'c', 'i'.repeat(506)],
    ['M', 'c', 'i'.repeat(507)],
  ] as const) {
    const slot = table.begin(method, '/x', client, id);
    t.equal(slot, first);
    table.enter(slot);
    const { current, others } = readFlights(Buffer.from(buffer));
    const whole = [method, client, id, '/x'].join('\n').slice(0, slotTextMax).split('\n');
    t.strictSame(
      [current?.method, current?.client, current?.requestId, current?.uri],
      [whole[0], whole[1] ?? '', whole[2] ?? '', whole[3] ?? ''],
    );
    t.strictSame(others, [{ method: 'GET', client: '192.0.2.2', requestId: 'B', uri: '/second' }]);
    table.leave();
    table.end(slot);
  }
});
