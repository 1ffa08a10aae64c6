// What serves traffic: a ruleset and a configuration, prepared together, swapped together, retired together.
import type { Admission } from '../admit/index.js';
import type { ProxyConfig } from '../contract/index.js';
import { namedFieldsOfSites, type NamedFields } from '../http/alike-fields.js';
import type { LoadedInspection } from '../inspection/inspection.js';
import { createRouter, type Router } from '../road/route.js';
import type { AddressSet } from '../shared-state/address-set.js';
import { siteSchemasOf, type SiteSchemas } from '../schema/site-schemas.js';
import { trustedProxySet } from './trusted-proxies.js';

export interface Generation {
  readonly id: number;
  /** Of the artifact, hex; '' when this generation has no ruleset. */
  readonly sha256: string;
  /** The bytes behind `sha256`, for threads that load them later. */
  readonly artifact: SharedArrayBuffer | null;
  readonly config: ProxyConfig;
  readonly router: Router;
  readonly inspection: LoadedInspection | null;
  /** Proxies in front whose X-Forwarded-For is believed; null = none. */
  readonly trusted: AddressSet | null;
  readonly admission: Admission;
  /** By the name of the site; a site without a specification is not in it. */
  readonly schemas: ReadonlyMap<string, SiteSchemas>;
  /** Names of fields by which its settings decide at the site of this name. */
  readonly namedFields: (site: string) => NamedFields;
  /** Requests that pinned it. */
  inFlight: number;
  /** Set when a successor serves; called when the last request is through. */
  onIdle: (() => void) | null;
}

export function createGeneration(
  { id, sha256, artifact, config }: Pick<Generation, 'id' | 'sha256' | 'artifact' | 'config'>,
  inspection: LoadedInspection | null,
  admission: Admission,
): Generation {
  return {
    id,
    sha256,
    artifact,
    config,
    router: createRouter(config),
    inspection,
    trusted: trustedProxySet(config.trustedProxies),
    admission,
    schemas: siteSchemasOf(config.apiSchemas ?? []),
    namedFields: namedFieldsOfSites(config),
    inFlight: 0,
    onIdle: null,
  };
}

/** One request less; the last one out lets a retired generation go. */
export function releaseGeneration(generation: Generation): void {
  generation.inFlight -= 1;
  if (generation.inFlight === 0 && generation.onIdle !== null) {
    const { onIdle } = generation;
    generation.onIdle = null;
    onIdle();
  }
}
