// What a proof must not hold. Secrets are recognised by the name of their member and by their own form; of each the
// first four characters stay, so that two proofs can be told apart.
import { maskSecrets } from '../secrets/mask.js';

const secretNames = new RegExp(
  'pass(word|wd|phrase)?$|pwd|secret|token|api[-_]?key|access[-_]?key|private[-_]?key' +
    '|authori[sz]ation|cookie|credential|session|signature',
  'i',
);
/** Stricter than for reports: a proof is traffic and no code. */
const secretForms: readonly RegExp[] = [
  /(?<=\b(?:bearer|basic|token)\s)[\w.~+/=-]{8,}/gi,
  // name=value and "name": "value" within a text
  new RegExp(
    '(?<=\\b(?:password|passwd|pwd|secret|token|api_?key|secret_?access_?key|session_?token|authorization)' +
      '"?\\s{0,3}[:=]\\s{0,3}"?)[^\\s"&,;]{1,500}',
    'gi',
  ),
  /\b(?=[A-Za-z0-9+/]{0,39}\d)(?=[A-Za-z0-9+/]{0,39}[A-Z])[A-Za-z0-9+/]{40,}={0,2}/g, // forty random characters
];
const shown = 4;
const depthMax = 8;
const membersMax = 100;
const charactersMax = 4000;

const hide = (text: string): string => (text.length <= 2 * shown ? '****' : `${text.slice(0, shown)}****`);

/** A text without the secrets in it, at most 4,000 characters. */
export const maskText = (text: string): string =>
  secretForms.reduce((masked, form) => masked.replace(form, hide), maskSecrets(text.slice(0, charactersMax)));

/** A JSON value without secrets; what is nested deeper than eight or has more than a hundred members is cut. */
export function maskValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return maskText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= depthMax) return '…';
  if (Array.isArray(value)) return value.slice(0, membersMax).map((one) => maskValue(one, depth + 1));
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, membersMax)
      .map(([name, member]) => {
        const isSecret = secretNames.test(name) && (typeof member === 'string' || typeof member === 'number');
        return [maskText(name), isSecret ? hide(String(member)) : maskValue(member, depth + 1)];
      }),
  );
}
