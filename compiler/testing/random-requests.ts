// Arbitrary requests, made of what random rules look for.
import fc from 'fast-check';
import { oneOf, words, type Text } from './random-words.js';
import type { ShortRequest } from './rule-text.js';

const pieces = [
  ...words,
  ...words,
  "' or 1=1-- ",
  '<script>',
  '../etc/passwd',
  '%2565vil',
  '%65',
  '&#101;vil',
  '\\x65vil',
  '/*',
  '*/',
  ' ',
  '\0',
  '\xe9',
  '\xff',
  '%',
  '%u0065vil',
  '(',
  '\n',
  'ZXZpbA==',
  '6576696c',
  '  ',
  'e^vil',
  '+',
];
const value: Text = fc.array(oneOf(...pieces), { maxLength: 3 }).map((parts) => parts.join(''));

function encode(text: string): string {
  return [...text]
    .map((character) =>
      /[A-Za-z0-9._~-]/.test(character) ? character : `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`,
    )
    .join('');
}
const parameters: Text = fc
  .array(fc.tuple(oneOf('a', 'b', 'foo', 'A', 'a\nb', 'evil'), value), { maxLength: 4 })
  .map((list) => list.map(([name, text]) => `${encode(name)}=${encode(text)}`).join('&'));
const headerValue: Text = value.map((text) => text.replace(/[\0\r\n]/g, '').trim());

export const requests: fc.Arbitrary<ShortRequest> = fc
  .record({
    path: oneOf('/', '/evil', '/x/../etc/passwd', '/a%20b', '/index.php'),
    query: fc.option(parameters, { nil: null, freq: 5 }),
    method: oneOf('', '', 'HEAD', 'evil'),
    headers: fc.array(
      fc.tuple(
        oneOf('User-Agent', 'X-Test', 'Cookie', 'x-other', 'x-test', 'user-agent'),
        fc.oneof(headerValue, oneOf('evil', 'x', '')),
      ),
      { maxLength: 3 },
    ),
    cookies: fc.option(
      fc.array(fc.tuple(oneOf('c', 'cc', 'evil', 'd'), oneOf('evil', 'x', '1', 'EVIL', "'or 1=1")), {
        minLength: 1,
        maxLength: 3,
      }),
      { nil: null, freq: 2 },
    ),
    body: fc.option(
      fc.oneof(
        parameters.map((text) => ['application/x-www-form-urlencoded', text] as const),
        fc.tuple(
          oneOf('text/plain', 'application/json', 'application/xml'),
          oneOf('evil', '{"a":"evil"}', '{"a":[1,"x"]}', '<r a="x">evil</r>'),
        ),
      ),
      { nil: null, freq: 2 },
    ),
    response: fc.option(
      fc.record({ status: fc.constantFrom(200, 404), headers: fc.array(headerValue, { maxLength: 2 }), body: value }),
      { nil: null, freq: 2 },
    ),
  })
  .map(({ path, query, method, headers, cookies, body, response }) => ({
    method: method !== '' ? method : body === null ? 'GET' : 'POST',
    uri: query === null ? path : `${path}?${query}`,
    headers: [
      ...headers.flat(),
      ...(cookies === null ? [] : ['Cookie', cookies.map((pair) => pair.join('=')).join('; ')]),
      ...(body === null ? [] : ['Content-Type', body[0]]),
    ],
    ...(body === null ? {} : { body: body[1] }),
    ...(response === null
      ? {}
      : {
          response: {
            status: response.status,
            headers: ['Content-Type', 'text/html', ...response.headers.flatMap((text) => ['X-R', text])],
            body: response.body,
          },
        }),
  }));
