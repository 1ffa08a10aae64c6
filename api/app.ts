// buildApp(deps): the whole control plane as one Fastify instance that has not begun to listen. Everything is
// registered here, by name, in this order; nothing is found by scanning a folder. A new feature is one line below.
import rateLimit from '@fastify/rate-limit';
import { accountFeature } from './account/index.js';
import { createAiFeature, lookedAt, verdictsOf } from './ai/index.js';
import { alertsFeature } from './alerts/index.js';
import { apiTokensFeature } from './api-tokens/index.js';
import { auditFeature } from './audit/index.js';
import { backupFeature } from './backup/index.js';
import { certificatesFeature } from './certificates/index.js';
import { complianceFeature } from './compliance/index.js';
import { registerGuard, requireStillAdmitted } from './auth/guard.js';
import { loginFeature } from './auth/index.js';
import { mergeAccess, type RouteMatrix } from './auth/route-matrix.js';
import { enrolmentFeature } from './enrolment/index.js';
import { eventSharesFeature } from './event-shares/index.js';
import { eventsFeature } from './events/index.js';
import { edgeFeature } from './edge/index.js';
import { evidenceFeature } from './evidence/index.js';
import { trafficFeature } from './traffic/index.js';
import { registerFeatures } from './features.js';
import { loadModules, type MigrationModule } from './db/migrate.js';
import { demoFeature } from './demo/index.js';
import { healthFeature } from './health/index.js';
import {
  ApiError,
  createSharedLimits,
  installationPrefix,
  toRateLimitStore,
  type App,
  type Feature,
  type Job,
  type SharedLimits,
  splitCommas,
} from './http-kit/index.js';
import type { TSchema } from '@sinclair/typebox';
import { requireOwnName } from './http-server/certified-node.js';
import { registerDocument, registerExplorer } from './http-server/document.js';
import { createInstance } from './http-server/instance.js';
import { tooMany } from './http-server/refuse.js';
import { createForwarding } from './http-server/trusted-proxies.js';
import { ingestFeature } from './ingest/index.js';
import { inventoryFeature } from './inventory/index.js';
import { jobsFeature } from './jobs/index.js';
import { licenceFeature } from './licence/index.js';
import { managedFeedFeature } from './managed-feed/index.js';
import { nodesFeature } from './nodes/index.js';
import { postureFeature } from './posture/index.js';
import { seesAudit } from '#vm-manager';
import { createParts, type AppDeps, type FeatureParts } from './parts.js';
import { rolloutFeature } from './rollout/index.js';
import { samplesFeature } from './records/index.js';
import { observabilityFeature } from './observability/index.js';
import { retentionFeature } from './retention/index.js';
import { measuresFeature } from './measures/index.js';
import { rulesFeature } from './rules/index.js';
import { settingsFeature } from './settings/index.js';
import { createSimulationFeature, simulatedOf } from './simulation/index.js';
import { siemFeature } from './siem/index.js';
import { sitesFeature } from './sites/index.js';
import { specFeature } from './spec/index.js';
import { ssoFeature } from './sso/index.js';
import { suggestionsFeature } from './suggestions/index.js';
import { threatsFeature, threatsOf } from './threats/index.js';
import { threatIntelFeature } from './threat-intel/index.js';
import { usersFeature } from './users/index.js';
import { vmFeature } from './vm-host/index.js';
import { vpatchFeature } from './vpatch/index.js';

export const features: readonly Feature<FeatureParts>[] = [
  healthFeature,
  loginFeature,
  ssoFeature,
  accountFeature,
  usersFeature,
  apiTokensFeature,
  auditFeature,
  licenceFeature,
  settingsFeature,
  sitesFeature,
  rulesFeature,
  evidenceFeature,
  trafficFeature,
  vpatchFeature,
  suggestionsFeature,
  threatIntelFeature,
  managedFeedFeature,
  edgeFeature,
  certificatesFeature,
  eventsFeature,
  eventSharesFeature,
  samplesFeature,
  specFeature,
  inventoryFeature,
  postureFeature,
  ingestFeature,
  createAiFeature(({ sql }, since) => threatsOf(sql, since), simulatedOf),
  threatsFeature,
  nodesFeature,
  enrolmentFeature,
  rolloutFeature,
  jobsFeature,
  retentionFeature,
  backupFeature,
  siemFeature,
  measuresFeature, // its migration takes the tables of edge, and the triggers of siem on them
  alertsFeature,
  createSimulationFeature({ verdictsOf, lookedAt }),
  complianceFeature,
  observabilityFeature,
  demoFeature,
  vmFeature,
];

/** The migrations of everything, in the order in which they run. */
export const allModules = (): Promise<MigrationModule[]> => loadModules(features);

export interface BuiltApp {
  readonly app: App;
  readonly parts: FeatureParts;
  /** What is to run in the background, of all features. */
  readonly jobs: readonly Job[];
}

/** Registers plugins and routes; opens nothing and never listens. The database has to be migrated and seeded. */
export async function buildApp(deps: AppDeps): Promise<BuiltApp> {
  const forwarding = createForwarding(deps.env.trustedProxies, deps.env.consoleToken);
  const app = createInstance({ logger: deps.logger, forwarding });
  const matrix = mergeAccess(features);
  const limits = createLimits(app, deps);
  const made = createParts(deps);
  const parts: FeatureParts = {
    ...made,
    matrix,
    limitsState: limits.state,
    seesVmAudit: (principal) => seesAudit(made.database.sql, principal),
    requireStillAdmitted: (request) => requireStillAdmitted(request, made, matrix),
  };
  await app.register(rateLimit, {
    global: false,
    hook: 'onRequest',
    store: toRateLimitStore(limits),
    errorResponseBuilder: (_, context) => tooMany(context.after),
  });
  await registerDocument(app, parts.brandName);
  registerGuard(app, parts, matrix);
  await registerExplorer(app, parts.brandName);
  answerUnknown(app, matrix, deps.notFoundPerMinute ?? 60);
  // `severity=high,critical`: filters of lists take several words
  app.addHook('preValidation', async (request) =>
    splitCommas(request.routeOptions.schema?.querystring as TSchema | undefined, request.query),
  );
  app.addHook('preValidation', async ({ raw, body }) => requireOwnName(raw, body));
  registerFeatures(app, features, parts);
  return { app, parts, jobs: features.flatMap((feature) => feature.jobs?.(parts) ?? []) };
}

function createLimits(app: App, deps: AppDeps): SharedLimits {
  const limits = createSharedLimits({
    redis: deps.redis ?? null,
    prefix: deps.redisPrefix ?? installationPrefix(deps.env.authSessionSecret),
    clock: () => performance.now(),
    log: app.log,
    ...(deps.redisAnswerMsMax === undefined ? {} : { answerMsMax: deps.redisAnswerMsMax }),
  });
  app.addHook('onClose', () => limits.close());
  return limits;
}

/** 405 where another method is known, else 404; limited, so that nobody probes without end. */
function answerUnknown(app: App, matrix: RouteMatrix, perMinute: number): void {
  const limit = app.rateLimit({ max: perMinute, timeWindow: 60_000 });
  app.setNotFoundHandler({ preHandler: limit }, (request) => {
    const path = request.url.split('?')[0] ?? '';
    const methods = matrix.methodsOf(path);
    if (methods.length > 0 && !methods.includes(request.method))
      throw new ApiError('method_not_allowed', `${path.slice(0, 200)} takes ${methods.join(', ')}.`, {
        headers: { allow: methods.join(', ') },
      });
    throw new ApiError('not_found', `There is no ${request.method} ${path.slice(0, 200)}.`);
  });
}
