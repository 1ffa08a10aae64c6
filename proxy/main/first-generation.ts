// What a data plane begins with: what served last, the local settings, or 503 until the control plane has spoken.
//
// One rule decides wherever what served last cannot serve: where a control plane has the settings, nothing else takes
// their place, because other rules would let pass what the owner's refuse. Protected sites answer 503 until the control
// plane has sent what was active, compiled anew. Only a node without a control plane goes by its local settings.
import type { Logger } from 'pino';
import { messageOf } from '../contract/errors.js';
import { followEnvironment } from '../contract/proxy-config.js';
import type { GenerationPayload } from '../worker/messages.js';
import type { Generations } from './generations.js';
import type { DataPlaneOptions } from './options.js';
import { closed, localRulesServe, withLocalRules, withoutRules } from './payloads.js';
import { loadStored } from './stored-generation.js';
import type { Supervisor } from './supervisor.js';

const untilSent =
  'answered 503 until the control plane sends what was active, which it does when it is up and has compiled it. ' +
  'To serve the local settings meanwhile, start without the control plane (GATEHOUSE_CONTROL_URL, or up --no-api)';
const protectedClosed = `requests to protected sites are ${untilSent}`;
const everythingClosed = `every request is ${untilSent}`;

export interface First {
  readonly payload: GenerationPayload;
  /** Whether it is written to `current.json`; what could not be used today stays there, it may be tomorrow. */
  readonly isKept: boolean;
  /** Why what is protected is answered 503 until a generation is sent; null: it is served. */
  readonly closed: string | null;
}

/** The options that decide. */
type Choice = Pick<DataPlaneOptions, 'resume' | 'dataDir' | 'shipping' | 'upstreams' | 'wasManaged'>;

export async function chooseFirst(options: Choice, local: GenerationPayload, log: Logger): Promise<First> {
  const { resume, dataDir, shipping, upstreams = null, wasManaged = false } = options;
  const hasControlPlane = shipping != null;
  const today = <T extends Pick<GenerationPayload, 'config'>>(payload: T): T =>
    upstreams === null ? payload : { ...payload, config: followEnvironment(payload.config, upstreams) };
  const serving = (payload: GenerationPayload): First => ({ payload, isKept: true, closed: null });
  const closing = (payload: GenerationPayload, problem: string, consequence: string): First => {
    log.error(`${problem}; ${consequence}`);
    return { payload, isKept: false, closed: problem };
  };
  if (!resume) return serving(local);
  const found = await loadStored(dataDir);
  switch (found.kind) {
    case 'whole':
      return serving(today(found.payload));
    case 'none':
      if (!hasControlPlane || !wasManaged) return serving(local);
      return closing(
        closed(local),
        `what served last is gone: there is no current.json in ${dataDir}`,
        everythingClosed,
      );
    case 'unreadable':
      if (hasControlPlane) return closing(closed(local), found.problem, everythingClosed);
      log.error(`${found.problem}; starting from the local settings instead`);
      return serving(local);
    case 'no rules':
      if (hasControlPlane) return closing(withoutRules(today(found.stored)), found.problem, protectedClosed);
      log.error(`${found.problem}; ${localRulesServe}`);
      return serving(today(withLocalRules(found.stored, local)));
  }
}

export interface Beginning {
  readonly local: GenerationPayload;
  readonly hasControlPlane: boolean;
  readonly log: Logger;
  /** All workers have loaded what they begin with; they listen when it is resolved. */
  readonly mayListen?: () => Promise<void>;
}

/**
 * Starts workers with `first`; resolves with what they began with when they listen. Rules that served last and are
 * refused now were made by another release: nothing takes their place where a control plane compiles them anew,
 * elsewhere those of `local` do, once.
 */
export async function startWorkers(
  make: () => Supervisor,
  generations: Generations,
  first: First,
  beginning: Beginning,
): Promise<First> {
  const { local, hasControlPlane, log, mayListen = () => Promise.resolve() } = beginning;
  const supervisor = make();
  generations.active = first.payload;
  generations.closed = first.closed;
  let haveLoaded = false;
  try {
    await supervisor.startAll(() => {
      haveLoaded = true;
      return mayListen();
    });
    return first;
  } catch (error) {
    await supervisor.stop(0);
    const { payload } = first;
    // Who has loaded them and cannot listen has no quarrel with the rules.
    const isOfLast = payload.artifact !== null && payload !== local && !haveLoaded;
    if (!isOfLast || error instanceof TypeError) throw error;
    const problem = `the rules that served last cannot be started again (${messageOf(error)})`;
    let next: First;
    if (hasControlPlane) {
      log.error(`${problem}; ${protectedClosed}`);
      next = { payload: withoutRules(payload), isKept: false, closed: problem };
    } else {
      if (local.artifact === null || payload.sha256 === local.sha256) throw error;
      log.error(`${problem}; ${localRulesServe}`);
      next = { payload: withLocalRules(payload, local), isKept: true, closed: null };
    }
    return startWorkers(make, generations, next, beginning);
  }
}
