// Secrets inside settings: sealed in what is stored, eight asterisks in what is read, plain only for the code that uses
// them. Which fields are secret is the schema's word (`x-secret`), so a new secret cannot be forgotten here.
import { ApiError } from '../http-kit/problem.js';
import type { ProblemField } from '../http-kit/problem.js';
import type { Sealing } from '../auth/sealing.js';
import { keptSecret, SettingsSchema, type Settings } from '#settings';

interface SecretPlace {
  readonly list: string | null;
  readonly field: string;
}

/** Top-level secrets and secrets of named list elements, found in the schema. */
export const secretPlaces: readonly SecretPlace[] = Object.entries(SettingsSchema.properties).flatMap(
  ([name, schema]): SecretPlace[] => {
    if (isSecret(schema)) return [{ list: null, field: name }];
    const members = (schema as { items?: { properties?: Record<string, unknown> } }).items?.properties ?? {};
    return Object.entries(members).flatMap(([member, inner]) =>
      isSecret(inner) ? [{ list: name, field: member }] : [],
    );
  },
);

function isSecret(schema: unknown): boolean {
  return (schema as Record<string, unknown>)['x-secret'] === true;
}

type Loose = Record<string, unknown>;

/** Every secret of a settings object: its place (stable under reordering) and the object that holds it. */
function* secretsOf(settings: Settings): Generator<{ place: string; pointer: string; holder: Loose; field: string }> {
  for (const { list, field } of secretPlaces) {
    if (list === null) yield { place: `settings:/${field}`, pointer: `/${field}`, holder: settings, field };
    else
      for (const [index, item] of ((settings as unknown as Loose)[list] as Loose[]).entries())
        yield {
          place: `settings:/${list}/${String(item['name'])}/${field}`,
          pointer: `/${list}/${index}/${field}`,
          holder: item,
          field,
        };
  }
}

/** What readers get: a copy with every stored secret as eight asterisks. */
export function hideSecrets(settings: Settings): Settings {
  const copy = structuredClone(settings);
  for (const { holder, field } of secretsOf(copy)) if (holder[field] !== null) holder[field] = keptSecret;
  return copy;
}

/**
 * What is stored: new secrets sealed, asterisks replaced by the ciphertext stored before. Throws when there is none.
 */
export function sealSecrets(settings: Settings, stored: Settings | null, sealing: Sealing): Settings {
  const copy = structuredClone(settings);
  const before = new Map<string, unknown>();
  if (stored !== null) for (const { place, holder, field } of secretsOf(stored)) before.set(place, holder[field]);
  const problems: ProblemField[] = [];
  for (const { place, pointer, holder, field } of secretsOf(copy)) {
    const value = holder[field];
    if (typeof value !== 'string') continue; // null: none
    const kept = before.get(place);
    if (value === keptSecret && typeof kept !== 'string')
      problems.push({ path: pointer, reason: 'eight asterisks keep the stored secret, and none is stored' });
    else if (sealing.isSealed(value)) problems.push({ path: pointer, reason: 'must be the secret itself' });
    else if (value === keptSecret) holder[field] = kept;
    else holder[field] = sealing.seal(value, place);
  }
  if (problems.length > 0) throw new ApiError('settings_impossible', 'A secret cannot be kept.', { errors: problems });
  return copy;
}

/** The settings as the code that uses them needs them. Throws when a secret does not open. */
export function revealSecrets(stored: Settings, sealing: Sealing): Settings {
  const copy = structuredClone(stored);
  for (const { place, holder, field } of secretsOf(copy))
    if (typeof holder[field] === 'string') holder[field] = sealing.open(holder[field], place);
  return copy;
}
