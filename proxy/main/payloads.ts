// Generations that are made here and not sent: of the local settings, under rules that can be loaded, and the one that
// answers nobody.
import type { SiteConfig } from '../contract/index.js';
import { usualSite } from '../contract/proxy-config.js';
import type { GenerationPayload } from '../worker/messages.js';
import { sha256Of, toShared } from './artifacts.js';
import type { InitialGeneration } from './options.js';

export function firstPayload(initial: InitialGeneration, id: number): GenerationPayload {
  const { artifact, config } = initial;
  return {
    id,
    sha256: artifact === null ? '' : sha256Of(artifact),
    artifact: artifact === null ? null : toShared(artifact),
    config,
    selfTest: initial.selfTest ?? 'inspect',
  };
}

export const localRulesServe =
  'its sites, mode and limits serve with the rules of the local settings, until a control plane sends others';

/** What served last under rules that can be loaded: requests go where they went, and are inspected. */
export function withLocalRules(
  { id, config }: Pick<GenerationPayload, 'id' | 'config'>,
  local: GenerationPayload,
): GenerationPayload {
  return { ...local, id: id + 1, config };
}

/**
 * What served last while its rules are missing: its sites, gates and limits are known, and what its rules would have
 * blocked is not. Protected sites answer 503, also those that fail open: an update is no failure of inspection. Sites
 * in DetectionOnly go on, since their rules block nothing.
 */
export function withoutRules({ id, config }: Pick<GenerationPayload, 'id' | 'config'>): GenerationPayload {
  const sites = config.sites.map(
    (site): SiteConfig => ({
      ...site,
      failMode: (site.mode ?? config.mode) === 'DetectionOnly' ? 'open' : 'closed',
    }),
  );
  return { id, sha256: '', artifact: null, selfTest: 'skip', config: { ...config, sites } };
}

/** What answers everything with 503: one site that is protected, without rules to inspect it by. */
export function closed({ id, config }: Pick<GenerationPayload, 'id' | 'config'>): GenerationPayload {
  const site: SiteConfig = {
    ...usualSite,
    name: 'closed',
    prefix: '/',
    upstream: 'http://127.0.0.1:9',
    hostPolicy: 'upstream',
  };
  return {
    id,
    sha256: '',
    artifact: null,
    selfTest: 'skip',
    config: { ...config, sites: [site], sitesFromEnvironment: false },
  };
}
