import { Type, type Static } from '@sinclair/typebox';

export const errorTable = {
  malformed_request: { status: 400, title: 'The request cannot be read' },
  validation_failed: { status: 400, title: 'The request does not fit the schema' },
  bad_cursor: { status: 400, title: 'The cursor is not one of ours' },
  nested_too_deep: { status: 400, title: 'The JSON body is nested too deeply' },
  not_authenticated: { status: 401, title: 'Authentication is required' },
  bad_credentials: { status: 401, title: 'The credentials were not accepted' },
  bad_otp: { status: 401, title: 'The one-time code was not accepted' },
  token_expired: { status: 401, title: 'The session has expired' },
  role_denied: { status: 403, title: 'The role does not allow this' },
  scope_denied: { status: 403, title: 'The API token does not carry this scope' },
  field_denied: { status: 403, title: 'A field may be changed by administrators only' },
  password_change_required: { status: 403, title: 'The password has to be changed first' },
  totp_enrolment_required: { status: 403, title: 'Two-factor authentication has to be set up first' },
  cross_site_refused: { status: 403, title: 'A cookie alone does not authorise a change' },
  licence_allowance: { status: 403, title: 'The licence does not allow more sites' },
  sso_refused: { status: 403, title: 'Single sign-on was refused' },
  not_found: { status: 404, title: 'There is nothing here' },
  method_not_allowed: { status: 405, title: 'The method is not allowed here' },
  conflict: { status: 409, title: 'The request conflicts with what exists' },
  last_admin: { status: 409, title: 'The last active administrator cannot be removed' },
  precondition_failed: { status: 412, title: 'The resource was changed by somebody else' },
  body_too_large: { status: 413, title: 'The body is too large' },
  media_type_unsupported: { status: 415, title: 'The media type is not supported' },
  settings_impossible: { status: 422, title: 'The settings contradict themselves' },
  password_refused: { status: 422, title: 'The password does not satisfy the policy' },
  licence_rejected: { status: 422, title: 'The licence key was rejected' },
  apply_refused: { status: 422, title: 'The settings cannot be made active' },
  outbound_refused: { status: 422, title: 'The target may not be contacted' },
  too_many_requests: { status: 429, title: 'Too many requests' },
  login_locked: { status: 429, title: 'Login is locked for a while' },
  internal: { status: 500, title: 'The server failed' },
  outbound_failed: { status: 502, title: 'A remote server did not answer properly' },
  apply_failed: { status: 502, title: 'The data plane did not take the new generation' },
  busy: { status: 503, title: 'The server is busy' },
  not_ready: { status: 503, title: 'The server is not ready' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof errorTable;

const ProblemFieldSchema = Type.Object({
  path: Type.String({ description: 'JSON pointer to the offending value; empty for the whole document' }),
  reason: Type.String(),
});
export type ProblemField = Static<typeof ProblemFieldSchema>;

export const ProblemSchema = Type.Object(
  {
    type: Type.String(),
    title: Type.String(),
    status: Type.Integer(),
    detail: Type.String(),
    instance: Type.String(),
    code: Type.String(),
    errors: Type.Optional(Type.Array(ProblemFieldSchema)),
  },
  { $id: 'Problem', additionalProperties: true, description: 'RFC 9457 problem document' },
);
export type Problem = Static<typeof ProblemSchema>;
