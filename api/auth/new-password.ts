// What a new password has to pass: the policy, the embedded list of common passwords, then the breach service. An
// unreachable service does not stop people from changing a password: the audit entry, the answer (header
// `x-gatehouse-notice`) and GET /api/ready say that the password was not checked.
import { ApiError } from '../http-kit/index.js';
import type { FastifyReply } from 'fastify';
import type { Parts } from '../parts.js';
import { isCommonPassword } from './frequent-passwords.js';
import { checkPasswordPolicy } from './password.js';

export type NewPasswordParts = Pick<Parts, 'currentSettings' | 'breachCheck' | 'hasher'>;

export interface AcceptedPassword {
  readonly hash: string;
  /** For the audit summary; empty when the breach check answered. */
  readonly note: string;
}

/** Tells the person who sent the password what could not be checked. */
export type Notify = (text: string) => void;

export const notifyBy =
  (reply: FastifyReply): Notify =>
  (text) =>
    void reply.header('x-gatehouse-notice', text);

export const commonPasswordReason =
  'it is a common password, or one with digits or signs around it; choose several words that do not belong together';

/** A header field: printable ASCII only. */
const breachCheckMissing =
  'The password is accepted, but it was not compared with passwords known from breaches: the service does not ' +
  'answer. Only the embedded list of common passwords was used.';

/** Throws `password_refused` with every reason. `path` is where the password stood in the request. */
export async function acceptNewPassword(
  parts: NewPasswordParts,
  password: string,
  person: { readonly email: string; readonly name: string },
  notify: Notify,
  path = '/password',
): Promise<AcceptedPassword> {
  const settings = await parts.currentSettings();
  const personal = [person.email.split('@')[0] ?? '', person.email, ...person.name.split(/\s+/)];
  const reasons = checkPasswordPolicy(
    password,
    { lengthMin: settings.policy_password_min_length, classesMin: settings.policy_password_min_classes },
    personal,
  );
  if (isCommonPassword(password)) reasons.push(commonPasswordReason);
  let note = '';
  if (reasons.length === 0 && settings.policy_block_pwned) {
    const answer = await parts.breachCheck(password);
    if (answer.kind === 'known')
      reasons.push('it is known from breaches of other sites; choose one that was never used anywhere');
    if (answer.kind === 'unreachable') {
      note = ` (breach check not possible: ${answer.reason})`;
      notify(breachCheckMissing);
    }
  }
  if (reasons.length > 0)
    throw new ApiError('password_refused', `The password is refused: ${reasons.join('; ')}.`, {
      errors: reasons.map((reason) => ({ path, reason })),
    });
  return { hash: await parts.hasher.hash(password), note };
}
