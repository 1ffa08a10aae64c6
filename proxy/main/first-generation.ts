// What a data plane begins with: what served last, the local settings, or nothing until the control plane has spoken.
import type { Logger } from 'pino';
import { messageOf } from '../contract/errors.js';
import { followEnvironment } from '../contract/proxy-config.js';
import type { GenerationPayload } from '../worker/messages.js';
import type { Generations } from './generations.js';
import type { DataPlaneOptions } from './options.js';
import { closed, localRulesServe, withLocalRules } from './payloads.js';
import { loadStored } from './stored-generation.js';
import type { Supervisor } from './supervisor.js';

const closedUntilSent =
  'every request is answered 503 until the control plane sends what is to serve, which it does as soon as it is up. ' +
  'To serve the local settings meanwhile, remove the file and start again';

/**
 * What to begin with. A record of what served last that cannot be read is no reason to serve something else where a
 * control plane has the settings: it sends them again, and until then the wrong application, without their rules, would
 * be open to everybody. Nothing is kept then, so that a file that could not be read today may be tomorrow.
 */
export async function chooseFirst(
  { resume, dataDir, shipping, upstreams }: DataPlaneOptions,
  local: GenerationPayload,
  log: Logger,
): Promise<{ readonly payload: GenerationPayload; readonly isKept: boolean }> {
  const hasControlPlane = shipping != null;
  const stored = resume
    ? await loadStored(
        dataDir,
        local,
        hasControlPlane ? closedUntilSent : 'starting from the local settings instead',
        (message) => log.error(message),
      )
    : 'none';
  if (stored === 'unreadable' && hasControlPlane) return { payload: closed(local), isKept: false };
  if (stored === 'none' || stored === 'unreadable') return { payload: local, isKept: true };
  return {
    payload: upstreams == null ? stored : { ...stored, config: followEnvironment(stored.config, upstreams) },
    isKept: true,
  };
}

/** Rules that served last and are refused now were made by another release: those of `local` take their place, once. */
export async function startWorkers(
  make: () => Supervisor,
  generations: Generations,
  local: GenerationPayload,
  log: Logger,
): Promise<Supervisor> {
  const supervisor = make();
  try {
    await supervisor.startAll();
    return supervisor;
  } catch (error) {
    await supervisor.stop(0);
    const { active } = generations;
    if (local.artifact === null || active.sha256 === local.sha256 || error instanceof TypeError) throw error;
    log.error(`what served last cannot be started again (${messageOf(error)}); ${localRulesServe}`);
    generations.active = withLocalRules(active, local);
    return startWorkers(make, generations, local, log);
  }
}
