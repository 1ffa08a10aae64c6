// Who may do what: tokens whose signature is not checked, pages that need a login and do not ask for one, methods that
// go around a refusal.
import { createHmac } from 'node:crypto';
import type { Exchange, Proof } from '../model.js';
import { always, everyTurn, everywhere, likeness, turnsOfSign, word, type Check, type Probe } from './check.js';

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
  if (recipe !== null && recipe.type === 'header' && recipe.name !== undefined) {
    const { name, secret } = recipe;
    const [, scheme = '', token = ''] = /^(\w+ )?(.*)$/s.exec(secret) ?? [];
    if (isJwt(token)) return { token, using: (text) => ({ [name]: scheme + text }) };
  }
  if (recipe !== null && recipe.type === 'cookie' && recipe.name !== undefined && isJwt(recipe.secret)) {
    const { name, secret } = recipe;
    return { token: secret, using: (text) => ({ cookie: `${name}=${text}` }) };
  }
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

/** Four ways: the token opens the page, the forged one does; no token, and a random text, do not. */
async function forged(probe: Probe, kind: 'none' | 'signature'): Promise<Proof | null> {
  const held = tokenOf(probe);
  const { recipe } = probe.talk.session;
  if (held === null || recipe === null) return probe.leaveOut();
  const ask = async (headers: Record<string, string>) =>
    probe.talk.get(recipe.checkUrl, { isAnonymous: true, headers });
  const why = `In ${turnsOfSign} turns the forged token opened the page; no token, and a random text, did not.`;
  const attack = kind === 'none' ? 'alg: none' : 'another signature';
  // where its own token does not open the page, nothing can be said about others
  if (!isIn(await ask(held.using(held.token)), recipe.checkText)) return probe.leaveOut();
  for (const text of forgedTokens(held.token, kind)) {
    const proof = await everyTurn(turnsOfSign, async () => {
      const exchange = await ask(held.using(text));
      if (exchange === null || !isIn(exchange, recipe.checkText)) return null;
      const neutral = await ask({});
      const garbage = await ask(held.using(`${word(8)}.${word(8)}.${word(8)}`));
      if (neutral === null || garbage === null) return null;
      return isIn(neutral, recipe.checkText) || isIn(garbage, recipe.checkText)
        ? null
        : { attack, exchange, neutral, why };
    });
    if (proof !== null) return proof;
  }
  return null;
}

/** The page needs credentials by its specification, or by its name, and answers alike without them. */
async function withoutLogin(probe: Probe): Promise<Proof | null> {
  const { form, talk } = probe;
  if (form.method !== 'GET') return probe.leaveOut();
  const isPrivate = /(?:^|\/)(?:admin|internal|management|backoffice|console)(?:\/|$)/i.test(
    new URL(form.url).pathname,
  );
  const hasSession = talk.session.recipe !== null;
  if (form.isProtected !== true && !(isPrivate && hasSession)) return null;
  const why = hasSession
    ? `In ${turnsOfSign} turns it answered without credentials as with them.`
    : `In ${turnsOfSign} turns it answered without the credentials that its specification demands.`;
  return everyTurn(turnsOfSign, async () => {
    const exchange = await probe.send({}, { isAnonymous: true });
    if (exchange === null || exchange.status >= 300 || exchange.body.trim() === '') return null;
    if (/type=["']?password/i.test(exchange.body)) return null;
    if (hasSession) {
      const own = await probe.send();
      if (own === null || own.status >= 300 || likeness(own, []) !== likeness(exchange, [])) return null;
    }
    const missing = await talk.get(`${form.url.replaceAll(/\{[^}]*\}/g, '1')}${word(8)}`, { isAnonymous: true });
    if (missing === null) return null;
    if (missing.status < 300 && likeness(missing, []) === likeness(exchange, [])) return null;
    return { attack: 'no credentials', exchange, neutral: null, why };
  });
}

/** A refusal that another method, or a header that names one, goes around. */
async function aroundMethod(probe: Probe): Promise<Proof | null> {
  const { form, talk } = probe;
  if (form.method !== 'GET') return probe.leaveOut();
  const url = form.url.replaceAll(/\{[^}]*\}/g, '1');
  const ask = async (address: string) =>
    talk.ask({ method: 'POST', url: address, headers: { 'content-length': '0' }, body: null }, { isAnonymous: true });
  return everyTurn(turnsOfSign, async () => {
    const neutral = await probe.send({}, { isAnonymous: true });
    if (neutral === null || (neutral.status !== 401 && neutral.status !== 403)) return null;
    const exchange = await ask(url);
    if (exchange === null || exchange.status !== 200 || exchange.body.trim() === '') return null;
    const missing = await ask(`${url}${word(8)}`);
    if (missing === null || missing.status < 300) return null;
    const why = `In ${turnsOfSign} turns GET answered ${neutral.status} and POST 200.`;
    return { attack: 'POST', exchange, neutral, why };
  });
}

const addressHeaders = ['x-forwarded-for', 'x-real-ip', 'x-client-ip', 'true-client-ip', 'x-originating-ip'];
const pathHeaders = ['x-original-url', 'x-rewrite-url'];

/** A refusal that a header of the request goes around: where it comes from, or which page it wants. */
async function aroundHeader(probe: Probe): Promise<Proof | null> {
  const { form, talk, parts } = probe;
  if (form.method !== 'GET') return probe.leaveOut();
  const first = await probe.send({}, { isAnonymous: true });
  if (first === null) return probe.leaveOut();
  if (first.status !== 401 && first.status !== 403) return null;
  const { pathname } = new URL(first.request.url);
  const isOpen = (exchange: Exchange | null): exchange is Exchange =>
    exchange !== null && exchange.status === 200 && exchange.body.trim() !== '';
  for (const header of [...addressHeaders, ...pathHeaders]) {
    const proof = await everyTurn(turnsOfSign, async () => {
      const neutral = await probe.send({}, { isAnonymous: true });
      if (neutral === null || neutral.status !== first.status) return null;
      const isPath = pathHeaders.includes(header);
      const ask = async (value: string) =>
        isPath
          ? talk.get(`${parts.origin}/`, { isAnonymous: true, headers: { [header]: value } })
          : probe.send({}, { isAnonymous: true, headers: { [header]: value } });
      const value = isPath ? pathname : '127.0.0.1';
      const exchange = await ask(value);
      if (!isOpen(exchange)) return null;
      // the same header with a value that opens nothing
      const other = await ask(isPath ? `${pathname}${word(8)}` : '203.0.113.77');
      if (other === null) return null;
      if (isOpen(other)) {
        if (!isPath || likeness(other, []) === likeness(exchange, [])) return null;
        // a front page with a token in it is another one each time, whatever the header says
        const again = await ask(`${pathname}${word(8)}`);
        if (again === null || likeness(again, []) !== likeness(other, [])) return null;
      }
      const why = `In ${turnsOfSign} turns it was refused (${neutral.status}), and shown with ${header}: ${value}.`;
      return { attack: `${header}: ${value}`, exchange, neutral, why };
    });
    if (proof !== null) return proof;
  }
  return null;
}

/** Keys that stand in examples and in lists of every attacker. */
const weakKeys =
  'secret password changeme key jwt jwtsecret jwt-secret jwt_secret secretkey secret-key secret_key ' +
  'your-256-bit-secret mysecret mysecretkey supersecret super-secret supersecretkey topsecret shhhhh shhh test token ' +
  'default admin root qwerty ' +
  '123456 12345678 1234567890 abc123 letmein development dev production prod example keyboard cat notasecret private';

/** Offline: the key is guessed by the token's own signature, and nothing is sent. */
async function weakKey(probe: Probe): Promise<Proof | null> {
  const held = tokenOf(probe);
  const { recipe } = probe.talk.session;
  if (held === null || recipe === null) return probe.leaveOut();
  const [head = '', claims = '', signature = ''] = held.token.split('.');
  const { alg } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { alg?: string };
  const hash = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' }[alg ?? ''];
  if (hash === undefined) return null;
  const found = weakKeys
    .split(' ')
    .find((one) => createHmac(hash, one).update(`${head}.${claims}`).digest('base64url') === signature);
  if (found === undefined) return null;
  const exchange = await probe.talk.get(recipe.checkUrl);
  if (exchange === null) return null;
  const why = `The session's token is signed with a key of ${found.length} letters that stands in lists.`;
  return { attack: 'a list of usual keys, tried offline', exchange, neutral: null, why };
}

export const accessChecks: readonly Check[] = [
  {
    id: 'jwt-weak-key',
    title: 'Tokens are signed with a key that everyone tries',
    severity: 'critical',
    cwe: 521,
    on: 'site',
    profiles: always,
    description: 'The key that signs JSON Web Tokens is a usual word: an attacker can sign one.',
    remediation: 'Sign with a random key of 256 bits, and replace the one that is used now.',
    prove: weakKey,
  },
  {
    id: 'access-bypass',
    title: 'A header goes around a refusal',
    severity: 'high',
    cwe: 290,
    on: 'form',
    profiles: everywhere,
    description: 'The page is refused, and shown to whoever says in a header where the request comes from or leads to.',
    remediation: 'Take such headers from your own proxies alone, and check rights where the page is made.',
    prove: aroundHeader,
  },
  {
    id: 'jwt-none',
    title: 'Tokens without a signature are accepted',
    severity: 'critical',
    cwe: 347,
    on: 'site',
    profiles: always,
    description: 'A JSON Web Token that says that it has no signature is accepted: an attacker can write one.',
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
    description: 'A JSON Web Token with another signature is accepted: an attacker can write one.',
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
    description: 'The page is meant for users who are logged in, and answers without a login.',
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
