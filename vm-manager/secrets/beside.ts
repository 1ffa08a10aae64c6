// Values whose name stands in another member: `{"param": "password", "attack": "…"}` of a scan, and what a template for
// leaked credentials has extracted. What is no word for a credential (an injection, a sentence) stays.
import { isSecretName } from './shapes.js';
import { isCredentialWord } from './values.js';

const depthMax = 8;
const naming = /^(?:param(?:eter)?|name|key|field|header|cookie|variable)$/i;
const valued = /^(?:attack|value|payload|raw|text)$/i;
const extracted = /^(?:extracted(?:[-_]?(?:results?|values?))?|matched(?:[-_]?values?)?)$/i;
const isValue = (text: string): boolean => /^[^\s'"<>()=;]{4,200}$/.test(text) && isCredentialWord(text);

/**
 * Secrets among the members of a record. `param`: the parameter that a scan of the application was at; `isCredential`:
 * the finding is that a credential is known.
 */
export function secretsBeside(told: readonly unknown[], param: unknown, isCredential: boolean): string[] {
  const found: string[] = [];
  const note = (value: unknown): void => {
    if (typeof value === 'string' && isValue(value.trim())) found.push(value.trim());
    else if (Array.isArray(value)) for (const one of value) if (typeof one === 'string') note(one);
  };
  const walk = (value: unknown, isNamed: boolean, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > depthMax) return;
    if (Array.isArray(value)) {
      for (const one of value) walk(one, isNamed, depth + 1);
      return;
    }
    const members = Object.entries(value);
    const isHere =
      isNamed || members.some(([name, one]) => naming.test(name) && typeof one === 'string' && isSecretName.test(one));
    for (const [name, one] of members) {
      if ((isHere && valued.test(name)) || (isCredential && extracted.test(name))) note(one);
      walk(one, false, depth + 1);
    }
  };
  const isParam = typeof param === 'string' && isSecretName.test(param);
  for (const one of told) walk(one, isParam, 0);
  return found;
}
