// Taking a rule set into use: through the control plane's ordinary apply where one runs, by a new generation where the
// data plane runs alone, and from the next start on where nothing does. Refused, nothing is changed.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chooseRuleSet, listRuleSets, readRuleSetChoice, type RuleSetChoice } from '#compiler';
import { effectiveValueOf, type Values } from '#settings/environment';
import { controlUrl } from '../environment/control-url.js';
import { settingsFile } from '../local-settings/settings-file.js';
import { networkRefusal, Refusal } from '../refusal.js';
import { readServed } from '../supervise/admin-interface.js';
import { hadControl } from '../supervise/parts.js';
import { activateSettings } from '../supervise/reload.js';

const applyMsMax = 300_000; // a compile of everything on a slow machine

interface Impact {
  readonly samples: number;
  readonly replayed: number;
  readonly newly_blocked: number;
  readonly newly_allowed: number;
}

/** What became of it, for a person. */
function describe(version: string, unchanged: boolean, impact: Impact | null): string {
  if (unchanged) return `CRS ${version} serves; nothing else changed.`;
  const replay =
    impact === null || impact.replayed === 0
      ? 'no recorded requests to compare by'
      : `of ${impact.replayed} recorded requests ${impact.newly_blocked} would be blocked now and were not, ` +
        `${impact.newly_allowed} the other way round`;
  return `CRS ${version} serves; ${replay}.`;
}

/** The same of a dry run. */
function describeTrial(version: string, impact: Impact | null): string {
  const replay =
    impact === null || impact.replayed === 0
      ? 'there are no recorded requests to compare by'
      : `of ${impact.replayed} recorded requests ${impact.newly_blocked} would be blocked that are not now, ` +
        `${impact.newly_allowed} the other way round`;
  return `CRS ${version} works with the settings in force; ${replay}. Nothing was changed.`;
}

/** Asks the control plane; null: none runs. Throws Refusal with its words where it refuses. */
async function throughControlPlane(values: Values, version: string, isTrial: boolean): Promise<string | null> {
  const url = `${controlUrl(values)}/api/dataplane/rules`;
  const reply = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${effectiveValueOf('DATA_ADMIN_TOKEN', values)}`,
    },
    body: JSON.stringify(isTrial ? { version, dry_run: true } : { version }),
    signal: AbortSignal.timeout(applyMsMax),
  }).catch((error: unknown) => {
    const code = (error as { cause?: { code?: string } }).cause?.code;
    if (code === 'ECONNREFUSED') return null;
    throw networkRefusal('the control plane', error) ?? error;
  });
  if (reply === null) return null;
  const body = (await reply.json()) as Record<string, unknown>;
  if (reply.ok && isTrial) return describeTrial(version, body['impact'] as Impact | null);
  if (reply.ok) return describe(version, body['unchanged'] === true, body['impact'] as Impact | null);
  const found = (body['diagnostics'] as { file: string; line: number; message: string }[] | undefined) ?? [];
  const lines = found.map(({ file, line, message }) => `\n  ${file}:${line}: ${message}`).join('');
  const what = isTrial ? 'would not be' : 'was not';
  throw new Refusal(`CRS ${version} ${what} taken into use: ${String(body['detail'])}${lines}`);
}

/** Whether a data plane answers on this machine. */
async function servesAlone(values: Values): Promise<boolean> {
  return readServed(values).then(
    (served) => served !== null,
    (error: unknown) => {
      if (error instanceof Refusal) return false;
      throw error;
    },
  );
}

/** As `up` would choose it after a start: for installations without a control plane, and before the first start. */
async function withoutControlPlane(values: Values, data: string, choice: RuleSetChoice): Promise<string> {
  const before = readRuleSetChoice(data);
  const isRunning = await servesAlone(values);
  if (!isRunning && hadControl(data) && existsSync(join(data, 'current.json')))
    throw new Refusal(
      'Gatehouse is not running: start it first (make run), so that recorded requests are replayed against the rules ' +
        'and what serves changes with them. Nothing was changed.',
    );
  chooseRuleSet(data, choice);
  if (!isRunning) return `CRS ${choice.version} will serve from the next start on.`;
  try {
    await activateSettings(settingsFile(data), data, values);
  } catch (error) {
    if (before !== null) chooseRuleSet(data, before);
    throw error;
  }
  return `CRS ${choice.version} serves.`;
}

/** `version` is unpacked below `data`. Resolves with what to tell; throws Refusal, and then nothing is changed. */
export async function takeIntoUse(values: Values, data: string, version: string): Promise<string> {
  return (
    (await throughControlPlane(values, version, false)) ??
    (await withoutControlPlane(values, data, { version, by: 'operator' }))
  );
}

/** What `takeIntoUse` would do, compiled and replayed, with nothing changed. Throws Refusal where it would refuse. */
export async function tryOut(values: Values, version: string): Promise<string> {
  const told = await throughControlPlane(values, version, true);
  if (told !== null) return told;
  throw new Refusal(
    'A dry run needs the control plane, which has the recorded requests: start Gatehouse first (make run). ' +
      'Nothing was changed.',
  );
}

/**
 * Where nobody chose, the newest rule set that is here serves: one that is only to be tried out must not become that by
 * being unpacked.
 */
export function keepChoice(data: string): void {
  const [newest] = listRuleSets(data);
  if (readRuleSetChoice(data) === null && newest !== undefined)
    chooseRuleSet(data, { version: newest.version, by: 'release' });
}
