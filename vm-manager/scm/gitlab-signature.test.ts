// GitLab's signing tokens: Standard Webhooks over the id, the moment and the body.
import { createHmac } from 'node:crypto';
import t from 'tap';
import { isHollowToken, providers } from './providers.js';

const now = new Date('2026-11-22T10:00:00Z');
const body = Buffer.from('{"ref":"refs/heads/main"}');
const key = Buffer.from('0123456789abcdef0123456789abcdef');
const token = `whsec_${key.toString('base64')}`;

const signed = (more: { at?: number; id?: string; key?: Buffer; body?: Buffer } = {}): Record<string, string> => {
  const { at = now.getTime() / 1000, id = 'd-1' } = more;
  const text = createHmac('sha256', more.key ?? key)
    .update(`${id}.${at}.`)
    .update(more.body ?? body)
    .digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': String(at), 'webhook-signature': `v1,${text}` };
};
const isSigned = (headers: Record<string, string>, secret = token): boolean =>
  providers['gitlab']?.isSigned(headers, body, secret, now) === true;

t.test('14/6: a signing token of GitLab signs id, moment and body', (t) => {
  t.equal(isSigned(signed()), true);
  const { 'webhook-signature': text = '', ...rest } = signed();
  t.equal(isSigned({ ...rest, 'webhook-signature': `v1,AAAA ${text}` }), true, 'one of several, while tokens change');
  t.equal(isSigned(signed({ key: Buffer.from('a secret written by hand') }), 'a secret written by hand'), true);
  const seconds = now.getTime() / 1000;
  for (const [what, headers] of Object.entries({
    'another key': signed({ key: Buffer.from('x') }),
    'another body': signed({ body: Buffer.from('{}') }),
    'another id': { ...signed(), 'webhook-id': 'd-2' },
    'another moment': { ...signed(), 'webhook-timestamp': String(seconds + 1) },
    'recorded six minutes ago': signed({ at: seconds - 360 }),
    'of the future': signed({ at: seconds + 360 }),
    'no moment': { ...signed(), 'webhook-timestamp': '' },
    'no signature': { ...rest },
    'another version': { ...rest, 'webhook-signature': text.replace('v1', 'v2') },
    'the token itself': { 'x-gitlab-token': token },
  }))
    t.equal(isSigned(headers), false, what);
  t.end();
});

t.test('14/6: a signing token without a key signs nothing', (t) => {
  for (const hollow of ['whsec_', 'whsec_!!!!!!!!!!!!', 'whsec_QUJD'])
    t.equal(isSigned(signed({ key: Buffer.from(hollow.slice(6), 'base64') }), hollow), false, hollow);
  t.equal(isHollowToken(token), false);
  t.end();
});

t.test('14/6: a secret token of GitLab is taken as before', (t) => {
  t.equal(isSigned({ 'x-gitlab-token': 'a-secret-of-the-test-1' }, 'a-secret-of-the-test-1'), true);
  t.equal(isSigned({ 'x-gitlab-token': 'another' }, 'a-secret-of-the-test-1'), false);
  t.equal(providers['gitlab']?.delivery({ 'webhook-id': 'd', 'x-gitlab-event-uuid': 'e' }), 'd');
  t.end();
});
