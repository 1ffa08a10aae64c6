import t from 'tap';
import { createRequestIds } from './request-id.js';

t.test('request ids are unique and sort by time', async (t) => {
  const make = createRequestIds();
  const other = createRequestIds();
  const ids = [
    ...Array.from({ length: 3000 }, () => make(1_700_000_000_000)),
    ...Array.from({ length: 10 }, () => make(1_700_000_000_001)),
    other(1_700_000_000_000),
  ];
  t.equal(new Set(ids).size, ids.length);
  for (const id of ids) if (!/^[0-9A-HJKMNP-TV-Z]{26}$/.test(id)) t.fail(id);
  t.ok((ids[0] as string) < (ids[3001] as string));
});
