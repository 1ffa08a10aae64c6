// Who may do what: tokens whose signature nobody checks, pages that need a login and do not ask for one, methods that
// go around a refusal.
import type { Exchange, Proof } from '../model.js';
import { always, everywhere, likeness, word, type Check, type Probe } from './check.js';

const isJwt = (text: string): boolean => /^eyJ[\w-]+\.eyJ[\w-]+\.[\w-]*$/.test(text);
const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The token of the session, and the headers of a request that has another one in its place. */
function tokenOf({
  talk,
}: Probe): { readonly token: string; readonly using: (text: string) => Record<string, string> } | null {
  const { session } = talk;
  const { recipe } = session;
  if (recipe !== null && recipe.type === 'bearer' && isJwt(recipe.secret))
    return { token: recipe.secret, using: (text) => ({ authorization: `Bearer ${text}` }) };
  for (const name of session.cookieNames) {
    const value = session.cookie(name) ?? '';
    if (isJwt(value)) return { token: value, using: (text) => ({ cookie: `${name}=${text}` }) };
  }
  return null;
}

const isIn = (exchange: Exchange | null, text: string): boolean =>
  exchange !== null && exchange.status < 300 && exchange.body.includes(text);

function forgedTokens(token: string, kind: 'none' | 'signature'): string[] {
  const [head = '', claims = '', signature = ''] = token.split('.');
  if (kind === 'signature') return [`${head}.${claims}.${signature.split('').reverse().join('')}`];
  const { typ } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { typ?: string };
  return ['none', 'None', 'NONE'].map((alg) => `${base64({ alg, typ })}.${claims}.`);
}

/** Three ways: the token opens the page, no token does not, and the forged one does. */
async function forged(probe: Probe, kind: 'none' | 'signature'): Promise<Proof | null> {
  const held = tokenOf(probe);
  const { recipe } = probe.talk.session;
  if (held === null || recipe === null) return null;
  const ask = async (headers: Record<string, string>) =>
    probe.talk.get(recipe.checkUrl, { isAnonymous: true, headers });
  const own = await ask(held.using(held.token));
  const none = await ask({});
  if (!isIn(own, recipe.checkText) || isIn(none, recipe.checkText)) return null;
  const garbage = await ask(held.using(`${word(8)}.${word(8)}.${word(8)}`));
  if (isIn(garbage, recipe.checkText)) return null;
  for (const text of forgedTokens(held.token, kind)) {
    const first = await ask(held.using(text));
    if (!isIn(first, recipe.checkText)) continue;
    const again = await ask(held.using(text));
    if (again === null || !isIn(again, recipe.checkText)) continue;
    const why = 'The forged token opens the page; no token, and one that is none, do not.';
    return { attack: kind === 'none' ? 'alg: none' : 'another signature', exchange: again, neutral: none, why };
  }
  return null;
}

/** The page needs credentials by its specification, or by its name, and answers alike without them. */
async function withoutLogin(probe: Probe): Promise<Proof | null> {
  const { form, talk } = probe;
  if (form.method !== 'GET') return null;
  const isPrivate = /(?:^|\/)(?:admin|internal|management|backoffice|console)(?:\/|$)/i.test(
    new URL(form.url).pathname,
  );
  const hasSession = talk.session.recipe !== null;
  if (form.isProtected !== true && !(isPrivate && hasSession)) return null;
  const anonymous = await probe.send({}, { isAnonymous: true });
  if (anonymous === null || anonymous.status >= 300 || anonymous.body.trim() === '') return null;
  if (/type=["']?password/i.test(anonymous.body)) return null;
  if (hasSession) {
    const own = await probe.baseline();
    if (own === null || own.status >= 300 || likeness(own, []) !== likeness(anonymous, [])) return null;
  }
  const missing = await talk.get(`${form.url.replaceAll(/\{[^}]*\}/g, '1')}${word(8)}`, { isAnonymous: true });
  if (missing !== null && missing.status < 300 && likeness(missing, []) === likeness(anonymous, [])) return null;
  const again = await probe.send({}, { isAnonymous: true });
  if (again === null || again.status >= 300) return null;
  return {
    attack: 'no credentials',
    exchange: again,
    neutral: null,
    why: 'It answers without credentials as with them.',
  };
}

/** A refusal that another method, or a header that names one, goes around. */
async function aroundMethod(probe: Probe): Promise<Proof | null> {
  const { form, talk } = probe;
  if (form.method !== 'GET') return null;
  const refused = await probe.send({}, { isAnonymous: true });
  if (refused === null || (refused.status !== 401 && refused.status !== 403)) return null;
  const url = form.url.replaceAll(/\{[^}]*\}/g, '1');
  const ask = async (address: string) =>
    talk.ask({ method: 'POST', url: address, headers: { 'content-length': '0' }, body: null }, { isAnonymous: true });
  const other = await ask(url);
  if (other === null || other.status !== 200 || other.body.trim() === '') return null;
  const missing = await ask(`${url}${word(8)}`);
  if (missing !== null && missing.status < 300) return null;
  const again = await ask(url);
  if (again === null || again.status !== 200) return null;
  return { attack: 'POST', exchange: again, neutral: refused, why: `GET answers ${refused.status}, POST answers 200.` };
}

export const accessChecks: readonly Check[] = [
  {
    id: 'jwt-none',
    title: 'Tokens without a signature are accepted',
    severity: 'critical',
    cwe: 347,
    on: 'site',
    profiles: always,
    description: 'A JSON Web Token that says that it has no signature is taken: anybody can write one.',
    remediation: 'Name the algorithm that is accepted, and verify the signature of every token with it.',
    prove: async (probe) => forged(probe, 'none'),
  },
  {
    id: 'jwt-signature',
    title: 'Signatures of tokens are not checked',
    severity: 'critical',
    cwe: 347,
    on: 'site',
    profiles: always,
    description: 'A JSON Web Token with another signature is taken: anybody can write one.',
    remediation: 'Verify the signature of every token before its claims are read.',
    prove: async (probe) => forged(probe, 'signature'),
  },
  {
    id: 'missing-login',
    title: 'No login is asked for',
    severity: 'high',
    cwe: 306,
    on: 'form',
    profiles: always,
    description: 'The page is meant for users who are logged in, and answers to everybody.',
    remediation: 'Check the session of every request in one place, before the page is made.',
    prove: withoutLogin,
  },
  {
    id: 'method-bypass',
    title: 'Another method goes around a refusal',
    severity: 'high',
    cwe: 650,
    on: 'form',
    profiles: everywhere,
    description: 'The page is refused for GET and answered for another method.',
    remediation: 'Check rights whatever the method is, and refuse methods that a page does not have.',
    prove: aroundMethod,
  },
];
