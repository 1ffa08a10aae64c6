// The settings people edit → everything the data plane takes beside rules, by its own resolver: one meaning of a site
// in the whole house. Pure and deterministic: the configuration of an older version can be made again from its
// settings, so it is stored nowhere (it may one day hold secrets).
import {
  chooseSelfTest,
  toProxyConfig,
  type DeclaredGraphql,
  type ProxyConfig,
  type SchemaPlan,
  type UpstreamDefaults,
} from '#proxy/contract';
import { findImpossible, type Settings } from '#settings';
import type { ApplyDiagnostic } from '../contract.js';
import { settingProblem } from './policy.js';

/** Where the sites of settings without sites lead (UPSTREAM_*). */
export type Upstreams = UpstreamDefaults;

/** What cannot be put in force: settings that were saved by an older program, which had fewer rules. */
export const impossibleIn = (settings: Settings): ApplyDiagnostic[] =>
  findImpossible(settings).map(({ path, reason, fix }) => settingProblem(path, reason, fix === '' ? undefined : fix));

/** `apiSchemas`, `graphqlDeclared`: of specifications; a configuration without any does not name them. */
export const proxyConfigOf = (
  settings: Settings,
  upstreams: Upstreams,
  apiSchemas: readonly SchemaPlan[] = [],
  graphqlDeclared: readonly DeclaredGraphql[] = [],
): ProxyConfig => ({
  ...toProxyConfig(settings, upstreams),
  ...(apiSchemas.length === 0 ? {} : { apiSchemas }),
  ...(graphqlDeclared.length === 0 ? {} : { graphqlDeclared }),
});

export const selfTestOf = (settings: Settings): 'inspect' | 'skip' => chooseSelfTest(settings);
