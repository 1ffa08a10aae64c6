// How scans of a target log in: a recipe whose secret is sealed for the target's origin, in no answer and no log.
import { Type, type Static } from '@sinclair/typebox';
import { OneOf } from '#http-kit';
import type { Sql } from '../../database.js';
import type { Host } from '../../host.js';
import { unfit } from '../../kit/endpoint.js';
import { sessionTypes, type SessionRecipe } from '../http/session.js';
import type { TargetRow } from './verify.js';

const Name = Type.String({ minLength: 1, maxLength: 100, pattern: '^[\\w.-]+$' });
const Address = Type.String({ maxLength: 1000, pattern: '^https?://\\S+$' });

export const SessionConfig = Type.Object(
  {
    type: OneOf(sessionTypes),
    login_url: Type.Optional(Address),
    user: Type.Optional(Type.String({ maxLength: 200 })),
    user_field: Type.Optional(Name),
    password_field: Type.Optional(Name),
    name: Type.Optional(Name),
    check_url: Address,
    check_text: Type.String({ minLength: 1, maxLength: 200 }),
  },
  { additionalProperties: false },
);
export type SessionConfig = Static<typeof SessionConfig>;

interface SessionRow {
  readonly config: SessionConfig;
  readonly secret: string;
  readonly updated_by: string;
  readonly updated_at: Date;
}

export const placeOfSecret = (url: string): string => `vm_target_sessions:/${new URL(url).origin}`;

/** Throws 422: credentials go to the target's own origin only. */
export function checkSession(config: SessionConfig, target: TargetRow): void {
  const { origin } = new URL(target.url);
  for (const name of ['login_url', 'check_url'] as const) {
    const given = config[name];
    if (given !== undefined && (!URL.canParse(given) || new URL(given).origin !== origin))
      throw unfit(`/${name}`, 'is not of the target', `write an address that begins with ${origin}`);
  }
  if (config.type === 'form' && config.login_url === undefined)
    throw unfit('/login_url', 'is missing', 'name the page that has the form');
  if ((config.type === 'header' || config.type === 'cookie') && config.name === undefined)
    throw unfit('/name', 'is missing', `name the ${config.type}`);
}

/** `second`: another user, whom techniques of exploits compare the first one with. */
export const identities = ['first', 'second'] as const;
export type IdentityName = (typeof identities)[number];

export async function readSession(sql: Sql, targetId: number, identity: IdentityName): Promise<SessionRow | null> {
  const [row] = await sql<SessionRow[]>`
    select * from vm_target_sessions where target_id = ${targetId} and identity = ${identity}`;
  return row ?? null;
}

/** Throws ApiError where the secret was sealed for another origin: then the target's address has changed. */
export async function recipeOf(
  host: Pick<Host, 'sql' | 'secrets'>,
  target: TargetRow,
  identity: IdentityName = 'first',
): Promise<SessionRecipe | null> {
  const row = await readSession(host.sql, target.id, identity);
  if (row === null) return null;
  const { type, login_url, user, user_field, password_field, name, check_url, check_text } = row.config;
  let secret: string;
  try {
    secret = host.secrets.open(row.secret, placeOfSecret(target.url));
  } catch {
    throw unfit('target_id', 'has credentials for another address', 'give the credentials of its session again');
  }
  const given = {
    loginUrl: login_url,
    user,
    userField: user_field,
    passwordField: password_field,
    name,
  };
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { type, secret, checkUrl: check_url, checkText: check_text, ...known };
}
