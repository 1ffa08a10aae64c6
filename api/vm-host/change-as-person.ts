// Settings that a page of the vulnerability manager changes: by the person who asks, audited as every other change.
import type { Person } from '#vm-manager';
import { ApiError, type Actor, type Principal } from '../http-kit/index.js';
import { changeSettings, type SettingsWriter } from '../settings/change.js';
import { readHead } from '../settings/store.js';

/** `version`: of the settings that the person saw; null: whatever they are. Throws `conflict` for an older one. */
export async function changeAsPerson(
  parts: SettingsWriter,
  { userId, email, role, sessionId }: Person,
  actor: Actor,
  version: number | null,
  members: Readonly<Record<string, unknown>>,
) {
  const head = await readHead(parts.database.sql);
  if (version !== null && version !== head.id)
    throw new ApiError('conflict', `The settings were changed meanwhile: their version is ${head.id}. Read again.`);
  const principal: Principal = { kind: 'session', userId, email, role, sessionId, scopes: null, duty: null, actor };
  const { stored } = await changeSettings(parts, principal, {
    action: 'settings.update',
    ifMatch: version === null ? undefined : head.etag,
    propose: (shown) => ({ ...shown, ...members }),
  });
  return stored;
}
