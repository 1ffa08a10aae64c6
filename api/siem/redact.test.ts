// What a connector leaves out is in none of the formats, wherever else an event repeats it.
import t from 'tap';
import { defaultSyslog, jsonFormats, toCef, toRfc5424 } from './formats/index.js';
import { redact, redactions, type Redaction } from './redact.js';
import { plainEvent } from './testing/events.js';

const everyFormat = (event: typeof plainEvent): string =>
  [
    ...Object.values(jsonFormats).map((format) => JSON.stringify(format(event))),
    toCef(event),
    toRfc5424(event, defaultSyslog),
  ].join('\n');

t.test('SIEM 1: a redacted field is nowhere', async (t) => {
  const secrets: Readonly<Record<Redaction, readonly RegExp[]>> = {
    client_ip: [/192\.0\.2/],
    client_host: [/192\.0\.2\.77/],
    query: [/tiger-query/],
    path: [/\/items/],
    user_agent: [/tiger-agent/],
    matched: [/"data":"|msg=/],
    details: [/phases/],
    node: [/node-1/],
    site: [/shop/],
  };
  for (const word of Object.keys(redactions) as Redaction[])
    for (const secret of secrets[word]) {
      t.match(everyFormat(plainEvent), secret, `${word} is there without redaction`);
      t.notMatch(everyFormat(redact(plainEvent, new Set([word]))), secret, word);
    }
  t.match(everyFormat(redact(plainEvent, new Set(['client_host']))), /192\.0\.2\.0\/24/);
  const request = { ...plainEvent.request!, path: '/caf%C3%A9-tiger', query: 'q=%74iger%20two', user_agent: null };
  const encoded = { ...plainEvent, request, reason: 'saw /café-tiger, and tiger two', details: {} };
  const hidden = redact(encoded, new Set(['query', 'path']));
  t.notMatch(everyFormat(hidden), /tiger/, 'decoded as well');
});
