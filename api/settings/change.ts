// Saving settings: one function for PUT, PATCH, rollback and every page that edits a part. All refusals come before the
// first write; the write, the version and the audit entry are one transaction.
import type { AuditAction } from '../audit/actions.js';
import { toCanonicalJson } from '../audit/canonical-json.js';
import { ApiError, checkIfMatch, type Principal } from '../http-kit/index.js';
import { refuseSites } from '../licence/key.js';
import { readLicenceStatus } from '../licence/store.js';
import type { Parts } from '../parts.js';
import { accessOf, checkSettings, settingNames, type Settings, siteIdentity } from '#settings';
import { hideSecrets, sealSecrets } from './secrets.js';
import { insertVersion, lockSettings, readHead, type StoredSettings } from './store.js';

export type SettingsWriter = Pick<
  Parts,
  'database' | 'now' | 'audit' | 'sealing' | 'licencePublicKey' | 'settingsChanged'
>;

export interface SettingsChange {
  /** Gets what readers see (secrets as asterisks) and returns what is wanted; may be anything, it is checked. */
  readonly propose: (shown: Settings) => unknown;
  readonly ifMatch: string | undefined;
  readonly action: AuditAction;
  /** Asked under the lock with what is stored and what would be; throws where it may not be saved like this. */
  readonly accept?: (before: Settings, after: Settings) => void;
  /** For rollbacks: the stored body, restored byte for byte instead of what `propose` returns. */
  readonly restore?: { readonly settings: Settings; readonly summary: string };
}

export interface SavedSettings {
  readonly stored: StoredSettings;
  readonly changed: boolean;
}

/**
 * Throws `precondition_failed`, `validation_failed`, `settings_impossible`, `field_denied` or `licence_allowance`; then
 * nothing was saved.
 */
export async function changeSettings(
  parts: SettingsWriter,
  principal: Principal,
  change: SettingsChange,
): Promise<SavedSettings> {
  const saved = await parts.database.sql.begin(async (tx): Promise<SavedSettings> => {
    await lockSettings(tx);
    const head = await readHead(tx);
    checkIfMatch(change.ifMatch, head.etag);
    const next =
      change.restore?.settings ??
      sealSecrets(requirePossible(principal, hideSecrets(head.settings), change), head.settings, parts.sealing);
    refuseGovernance(principal, head.settings, next);
    change.accept?.(head.settings, next);
    const refusal = refuseSites(
      head.settings.sites.map(siteIdentity),
      next.sites.map(siteIdentity),
      await readLicenceStatus(parts, tx),
    );
    if (refusal !== null) throw new ApiError('licence_allowance', refusal);
    const version = await insertVersion(tx, head, {
      settings: next,
      author: principal.actor.name,
      at: new Date(parts.now()),
      ...(change.restore === undefined ? {} : { summary: change.restore.summary }),
    });
    if (version === null) return { stored: head, changed: false };
    const blind = change.ifMatch === undefined ? ' (without If-Match)' : '';
    await parts.audit.record(tx, {
      actor: principal.actor,
      action: change.action,
      summary: `saved settings version ${version.id}: ${version.summary}${blind}`,
      details: { version: version.id, changes: version.changes },
    });
    return { stored: version, changed: true };
  });
  if (saved.changed) parts.settingsChanged();
  return saved;
}

function requirePossible(principal: Principal, shown: Settings, change: SettingsChange): Settings {
  const candidate = change.propose(shown);
  const checked = checkSettings(candidate);
  if (checked.kind === 'fine') return checked.settings;
  // who may not change a field is not told how to fill it in
  if (typeof candidate === 'object' && candidate !== null) refuseGovernance(principal, shown, candidate);
  const code = checked.stage === 'schema' ? 'validation_failed' : 'settings_impossible';
  throw new ApiError(
    code,
    `Nothing was saved: ${checked.problems
      .slice(0, 3)
      .map((p) => `${p.path || '/'} ${p.reason}`)
      .join('; ')}.`,
    { errors: checked.problems },
  );
}

/** Governance is decided field by field: an operator may send the whole object back as long as these are untouched. */
function refuseGovernance(principal: Principal, before: Settings, after: Partial<Settings>): void {
  if (principal.role === 'admin') return;
  const touched = settingNames.filter(
    (name) =>
      accessOf(name) === 'admin' &&
      after[name] !== undefined &&
      toCanonicalJson(before[name]) !== toCanonicalJson(after[name]),
  );
  if (touched.length > 0)
    throw new ApiError('field_denied', `Only administrators may change ${touched.join(', ')}. Nothing was saved.`, {
      errors: touched.map((name) => ({ path: `/${name}`, reason: 'may be changed by administrators only' })),
    });
}
