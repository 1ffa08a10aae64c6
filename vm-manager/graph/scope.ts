// What part of the organisation a question about chains is asked of.
import type { Static } from '@sinclair/typebox';
import { requireApplication } from '../assets/resources.js';
import type { ChainEngine, ChainScope } from '../chains/engine.js';
import { isUnconfined, type Reach } from '../kit/caller.js';
import type { Call } from '../kit/endpoint.js';
import type { ScopeQuery } from './shapes.js';

/** Whether somebody reaches an application, by what the engine knows of it. */
function visibleTo(engine: ChainEngine, reach: Reach): (applicationId: string) => boolean {
  const [applications, projects] = [new Set(reach.applications), new Set(reach.projects)];
  const within = reach.within === null ? null : new Set(reach.within);
  return (id) => {
    const project = engine.application(id)?.projectId ?? null;
    const isGranted = reach.all || applications.has(id) || (project !== null && projects.has(project));
    return isGranted && (within === null || within.has(id));
  };
}

/** The scope of a question: its parameters, and what the caller may see. Throws 404 for an application out of reach. */
export async function scopeOf(
  call: Pick<Call, 'sql' | 'reach'>,
  engine: ChainEngine,
  given: Static<typeof ScopeQuery>,
): Promise<ChainScope> {
  const { application_id: id, internet_only: internetOnly = false } = given;
  if (id !== undefined) await requireApplication(call.sql, call.reach, id);
  return {
    ...(id === undefined ? {} : { applicationId: id }),
    internetOnly,
    ...(isUnconfined(call.reach) ? {} : { isVisible: visibleTo(engine, call.reach) }),
  };
}
