// Logging in and out. Users and sessions are the control plane's; this is its door in the shape of this API: a session
// token, or a token for the step before the second factor, which opens nothing else.
import { Nullable, Time } from '#http-kit';
import { Type } from '@sinclair/typebox';
import { endpoint, type Endpoint } from '../kit/endpoint.js';
import type { LoginAnswer } from '../host.js';

const Login = Type.Object({
  mfa_required: Type.Boolean(),
  pre_mfa_token: Nullable(Type.String({ description: 'for POST /auth/mfa; good for five minutes' })),
  access_token: Nullable(Type.String()),
  token_type: Type.Literal('bearer'),
  expires_at: Nullable(Time),
  password_change_required: Type.Boolean({
    description: 'true: until POST /auth/password/change every other call answers 403',
  }),
  mfa_enrolment_required: Type.Boolean({
    description: 'true: until POST /auth/mfa/enroll and /auth/mfa/confirm every other call answers 403',
  }),
});

const closed = { additionalProperties: false } as const;

function viewLogin(answer: LoginAnswer) {
  const isIn = answer.kind === 'in';
  return {
    mfa_required: !isIn,
    pre_mfa_token: isIn ? null : answer.challenge,
    access_token: isIn ? answer.token : null,
    token_type: 'bearer' as const,
    expires_at: isIn ? answer.expiresAt.toISOString() : null,
    password_change_required: isIn && answer.duty === 'change_password',
    mfa_enrolment_required: isIn && answer.duty === 'enrol_totp',
  };
}

export const authEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'POST',
    path: '/auth/login',
    permission: 'public',
    kind: 'B',
    summary: 'Log in with a password',
    config: (host) => host.identity.loginConfig,
    body: Type.Object(
      {
        email: Type.String({ minLength: 1, maxLength: 254 }),
        password: Type.String({ minLength: 1, maxLength: 1000 }),
      },
      closed,
    ),
    answer: Login,
    handle: async ({ host, request, body }) => viewLogin(await host.identity.logIn(request, body.email, body.password)),
  }),
  endpoint({
    method: 'POST',
    path: '/auth/mfa',
    permission: 'public',
    kind: 'B',
    summary: 'The second step of a login: a one-time code or a recovery code',
    config: (host) => host.identity.loginConfig,
    body: Type.Object(
      {
        pre_mfa_token: Type.String({ minLength: 1, maxLength: 2000 }),
        code: Type.String({ minLength: 6, maxLength: 40 }),
      },
      closed,
    ),
    answer: Login,
    handle: async ({ host, request, body }) =>
      viewLogin(await host.identity.answerMfa(request, body.pre_mfa_token, body.code)),
  }),
  endpoint({
    method: 'POST',
    path: '/auth/logout',
    permission: 'self',
    anyScope: true,
    kind: 'B',
    summary: 'End this session',
    status: 204,
    handle: async ({ host, caller }) => host.identity.logOut(caller.person, caller.actor, 'this'),
  }),
  endpoint({
    method: 'POST',
    path: '/auth/logout-all',
    permission: 'self',
    kind: 'B',
    summary: 'End every session of mine; every session token dies',
    status: 204,
    handle: async ({ host, caller }) => host.identity.logOut(caller.person, caller.actor, 'all'),
  }),
  endpoint({
    method: 'GET',
    path: '/auth/me',
    permission: 'self',
    kind: 'B',
    summary: 'Who am I, and what may I do',
    answer: Type.Object({
      id: Type.String(),
      email: Type.String(),
      role: Type.String(),
      roles: Type.Array(Type.String()),
      permissions: Type.Array(Type.String()),
      credential: Type.Union([Type.Literal('session'), Type.Literal('token')]),
      scopes: Nullable(Type.Array(Type.String())),
      visible: Type.Object({
        all: Type.Boolean(),
        project_ids: Type.Array(Type.String()),
        application_ids: Type.Array(Type.String()),
      }),
    }),
    handle: async ({ caller }) => {
      const reach = caller.reach('view_findings', false);
      return {
        id: caller.person.userId,
        email: caller.person.email,
        role: caller.person.role,
        roles: caller.roles,
        permissions: caller.permissions,
        credential: caller.kind,
        scopes: caller.scopes,
        visible: {
          all: reach !== null && reach.all && reach.within === null,
          project_ids: reach?.projects ?? [],
          application_ids: reach?.within ?? reach?.applications ?? [],
        },
      };
    },
  }),
];
