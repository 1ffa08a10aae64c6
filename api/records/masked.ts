// What of a recorded request cannot be looked at any more: letters and digits of secrets, and with privacy_mode of
// personal data, are x in records (proxy/masking), and bodies are kept of some requests only.
import type { ReplaySample } from '../change/replay.js';

/** Nothing but x between what is no letter or digit. Words such as `maxx` are none. */
const maskedWord = /(?:^|[^A-Za-z0-9])x{2,}(?:$|[^A-Za-z0-9])/;

/** Whether a value of it was masked, so far as one can see it. */
export const hasMaskedValue = ({ uri, headers, body }: Pick<ReplaySample, 'uri' | 'headers' | 'body'>): boolean =>
  maskedWord.test(uri) || headers.some((one) => maskedWord.test(one)) || (body !== null && maskedWord.test(body));

/** Whether it had a body that was not kept. */
export const lacksBody = ({ headers, body }: Pick<ReplaySample, 'headers' | 'body'>): boolean =>
  body === null &&
  headers.some((one, at) => {
    const name = at % 2 === 0 ? one.toLowerCase() : '';
    return name === 'transfer-encoding' || (name === 'content-length' && !/^\s*0*\s*$/.test(headers[at + 1] ?? ''));
  });
