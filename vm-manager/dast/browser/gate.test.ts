// What a page that asks without end may leave in the memory of the control plane.
import t from 'tap';
import type { Talk } from '../http/talk.js';
import type { Exchange } from '../model.js';
import { Gate, gateLimits, type Met, type Paused } from './gate.js';

const request = { method: 'GET', url: 'https://shop.example/', headers: {}, body: null } as const;
const page = { request, status: 200, headers: {}, cookies: [], body: '' } as unknown as Exchange;
const paused = (url: string, type: string, postData?: string): Paused => ({
  ...{ requestId: '1', frameId: 'main', resourceType: type },
  request: {
    url,
    method: postData === undefined ? 'GET' : 'POST',
    headers: {},
    ...(postData === undefined ? {} : { postData }),
  },
});

t.test('what a page leaves behind is bounded', async (t) => {
  const asked: string[] = [];
  const talk = {
    client: { judge: (url: string) => (url.startsWith('https://shop.example/') ? null : 'other_host') },
    ask: async ({ url }: { url: string }) => {
      asked.push(url);
      return page;
    },
  } as unknown as Talk;
  const gate = new Gate(talk, 10_000, true);
  const met: Met = { links: new Set(), sent: [], leftOut: new Map() };
  const answer = async (one: Paused) => gate.answer(one, page, 'main', true, met);
  for (let at = 0; at < 3000; at++) {
    await answer(paused(`https://elsewhere.example/${at}`, 'Fetch'));
    await answer(paused(`https://shop.example/go/${at}`, 'Document'));
    await answer(paused(`https://shop.example/ask?n=${at}`, 'Fetch'));
  }
  t.equal(met.leftOut.size, gateLimits.metOfPage);
  t.equal(met.links.size, gateLimits.metOfPage);
  t.equal(met.sent.length, gateLimits.metOfPage);
  t.equal(asked.length, gateLimits.ofOneShape);
  const fresh: Met = { links: new Set(), sent: [], leftOut: new Map() };
  const large = 'x'.repeat(gateLimits.bodyBytes + 1);
  const verdict = await gate.answer(paused('https://shop.example/large', 'Fetch', large), page, 'main', true, fresh);
  t.same(verdict, { fail: 'BlockedByClient' });
  t.same(fresh.sent, [], 'its body is not kept');
  t.same([...fresh.leftOut], [['POST https://shop.example/large', 'sends more than a scan looks at']]);
  await gate.answer(paused(`https://shop.example/${'a'.repeat(9000)}`, 'Fetch'), page, 'main', true, fresh);
  t.equal(asked.length, gateLimits.ofOneShape, 'an address without end is not asked for');
});
