import t from 'tap';
import { isStream, relayedFields, relayedTrailers } from './response-fields.js';

t.test('response fields', async (t) => {
  t.strictSame(
    relayedFields(
      [
        'Connection',
        'close, X-Hop',
        'X-Hop',
        '1',
        'Content-Length',
        '5',
        'Transfer-Encoding',
        'chunked',
        'Set-Cookie',
        'a',
        'Set-Cookie',
        'b',
        'X-Request-Id',
        'theirs',
      ],
      'ID',
    ),
    ['Set-Cookie', 'a', 'Set-Cookie', 'b', 'X-Request-Id', 'ID'],
  );
  t.ok(isStream(['Content-Type', 'text/event-stream; charset=utf-8']));
  t.notOk(isStream(['Content-Type', 'text/html']));
});

t.test('Connection fields of a response are one list', async (t) => {
  t.strictSame(relayedFields(['X-A', '1', 'Connection', 'keep-alive', 'Connection', 'X-A'], 'ID'), [
    'X-Request-Id',
    'ID',
  ]);
});

t.test('trailers that may stand behind a body', async (t) => {
  t.strictSame(
    relayedTrailers([
      'Server-Timing',
      'db;dur=1',
      'Set-Cookie',
      'a=b',
      'Content-Length',
      '5',
      'Transfer-Encoding',
      'chunked',
      'access-control-allow-origin',
      '*',
      'grpc-status',
      '0',
    ]),
    ['Server-Timing', 'db;dur=1', 'grpc-status', '0'],
  );
  t.equal(relayedTrailers(['Set-Cookie', 'a=b']), null);
});
