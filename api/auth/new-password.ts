// What a new password has to pass: the policy, then the breach list. The breach service being away does not stop people
// from changing a password; it is written into the audit entry instead.
import { ApiError } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { checkPasswordPolicy } from './password.js';

export type NewPasswordParts = Pick<Parts, 'currentSettings' | 'breachCheck' | 'hasher'>;

export interface AcceptedPassword {
  readonly hash: string;
  /** For the audit summary; empty when the breach check answered. */
  readonly note: string;
}

/** Throws `password_refused` with every reason. `path` is where the password stood in the request. */
export async function acceptNewPassword(
  parts: NewPasswordParts,
  password: string,
  person: { readonly email: string; readonly name: string },
  path = '/password',
): Promise<AcceptedPassword> {
  const settings = await parts.currentSettings();
  const personal = [person.email.split('@')[0] ?? '', person.email, ...person.name.split(/\s+/)];
  const reasons = checkPasswordPolicy(
    password,
    { lengthMin: settings.policy_password_min_length, classesMin: settings.policy_password_min_classes },
    personal,
  );
  let note = '';
  if (reasons.length === 0 && settings.policy_block_pwned) {
    const answer = await parts.breachCheck(password);
    if (answer.kind === 'known')
      reasons.push('it is known from breaches of other sites; choose one that was never used anywhere');
    if (answer.kind === 'unreachable') note = ` (breach check not possible: ${answer.reason})`;
  }
  if (reasons.length > 0)
    throw new ApiError('password_refused', `The password is refused: ${reasons.join('; ')}.`, {
      errors: reasons.map((reason) => ({ path, reason })),
    });
  return { hash: await parts.hasher.hash(password), note };
}
