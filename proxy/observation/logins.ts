// Whom a login names, and with what: told by the members of its body, so that logins are found whatever their path is.
import { eachPair, isJsonType, parseJson } from './look-into.js';

export interface LoginAttempt {
  /** In lower case, as people write it in many ways. */
  readonly account: string;
  /** null: the body has none (a second step, a link by mail). */
  readonly password: string | null;
}

const bodyBytesMax = 16 * 1024;
const accountMember =
  /^(?:user|user[_-]?name|user[_-]?id|e?[_-]?mail|email[_-]?address|login|log|account|phone|identifier|handle)$/i;
const passwordMember = /^(?:pass|pass[_-]?word|passwd|pwd|pass[_-]?phrase|pass[_-]?code|pin)$/i;

/** null: the body names nobody by a name that is known. */
export function readLogin(type: string | null, body: Buffer): LoginAttempt | null {
  if (body.length === 0 || body.length > bodyBytesMax) return null;
  let account: string | null = null;
  let password: string | null = null;
  const take = (name: string, value: unknown): void => {
    if (typeof value !== 'string' || value === '') return;
    if (account === null && accountMember.test(name)) account = value.trim().toLowerCase().slice(0, 320);
    else if (password === null && passwordMember.test(name)) password = value;
  };
  if (isJsonType(type)) eachInside(parseJson(body.toString('utf8')), take, 3);
  else eachPair(body.toString('latin1'), take);
  return account === null ? null : { account, password };
}

/** Members of an object and of those inside it: `{"user": {"email": …}}`, variables of GraphQL. */
function eachInside(value: unknown, take: (name: string, value: unknown) => void, depth: number): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth === 0) return;
  for (const [name, member] of Object.entries(value).slice(0, 50))
    if (typeof member === 'object') eachInside(member, take, depth - 1);
    else take(name, member);
}
