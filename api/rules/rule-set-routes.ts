// Another core rule set for what serves now: `bin/gatehouse rules` asks for it with the token between the planes.
import { Type } from '@sinclair/typebox';
import type { ApplyReply } from '../change/contract.js';
import { applyHead, type FlowParts } from '../change/flow.js';
import { ApiError, closed, refusals, type Actor, type App } from '../http-kit/index.js';
import type { Parts } from '../parts.js';
import { readState } from '../settings/state.js';
import { readHead } from '../settings/store.js';

export type RuleSetParts = FlowParts & Pick<Parts, 'ruleSets'>;

const schema = {
  tags: ['data plane'],
  summary: 'Takes another unpacked rule set into use through an ordinary apply; refused, nothing is changed',
  body: Type.Object(
    {
      version: Type.String({ pattern: '^\\d+\\.\\d+\\.\\d+$' }),
      dry_run: Type.Optional(Type.Boolean({ description: 'compile and replay only; nothing is changed' })),
    },
    closed,
  ),
  response: {
    200: Type.Object({
      version: Type.String(),
      dry_run: Type.Boolean(),
      unchanged: Type.Boolean(),
      impact: Type.Union([
        Type.Object({
          samples: Type.Integer(),
          replayed: Type.Integer(),
          newly_blocked: Type.Integer(),
          newly_allowed: Type.Integer(),
        }),
        Type.Null(),
      ]),
      took_ms: Type.Number(),
    }),
    ...refusals,
  },
};

const commandLine: Actor = { id: null, name: 'bin/gatehouse rules', role: 'system', sourceIp: '' };

export function registerRuleSetRoutes(app: App, parts: RuleSetParts): void {
  const { database, ruleSets, audit } = parts;
  app.post('/api/dataplane/rules', { schema }, async ({ body: { version, dry_run: dryRun = false } }) => {
    // the rules only: what somebody has saved and not applied is theirs to put in force
    const [head, state] = await Promise.all([readHead(database.sql), readState(database.sql)]);
    if (state.activeId !== null && state.activeId !== head.id)
      throw new ApiError(
        'conflict',
        `Settings version ${head.id} is saved and not in force: apply it, or roll back to ${state.activeId}, first.`,
      );
    if (dryRun) {
      const { unchanged, impact, took_ms } = await tryOut(parts, version, head.etag);
      return { version, dry_run: true, unchanged, impact, took_ms };
    }
    const before = ruleSets.notice().version;
    const takeBack = orConflict(() => ruleSets.use(version));
    const { unchanged, impact, took_ms } = await applyHead(parts, commandLine, false, head.etag).catch(
      (error: unknown) => {
        takeBack();
        throw error;
      },
    );
    await database.sql.begin((tx) =>
      audit.record(tx, {
        actor: commandLine,
        action: 'rule_set.use',
        summary: `the core rule set is ${version}${before === null ? '' : `; it was ${before}`}`,
        details: { version, before: before ?? '' },
      }),
    );
    return { version, dry_run: false, unchanged, impact, took_ms };
  });
}

/** What an apply with these rules would do; they are the rules of this one compile only. */
async function tryOut(parts: RuleSetParts, version: string, etag: string): Promise<ApplyReply> {
  const { ruleSets, applySettings } = parts;
  const during = <T>(work: () => Promise<T>): Promise<T> => orConflict(() => ruleSets.tryOut(version, work));
  await during(async () => undefined); // whether it is there
  const applying: FlowParts['applySettings'] =
    applySettings === null ? null : (request) => during(() => applySettings(request));
  return applyHead({ ...parts, applySettings: applying }, commandLine, true, etag);
}

/** What is thrown before any work began is told to people. */
function orConflict<T>(begin: () => T): T {
  try {
    return begin();
  } catch (error) {
    throw new ApiError('conflict', error instanceof Error ? error.message : String(error));
  }
}
