// What rules see of a request that asks GraphQL, for commands: as the data plane shows it under the settings.
import { graphqlView, type GraphqlView, type ProxyConfig } from '#proxy/contract';
import { createRouter, findField } from '#proxy/gates';
import type { WireRequest } from './wire.js';

/** `config` null: only rules are known, and they see the request as it came. */
export function graphqlOf(config: ProxyConfig | null, { head, body }: WireRequest): GraphqlView {
  const routed = config === null ? null : createRouter(config).match(findField(head.headers, 'host') ?? '', head.uri);
  if (config === null || routed === null || !routed.site.isProtected)
    return { head, body, operation: null, isChanged: false, decision: null };
  return graphqlView(config, routed.site, head, body);
}

/** '' where the request has nothing to do with GraphQL. */
export function formatGraphql({ operation, isChanged, decision }: GraphqlView): string {
  const rule = decision === null || decision.rule === null ? '' : `${decision.rule.message} (rule ${decision.rule.id})`;
  if (operation === null) return rule === '' ? '' : `GraphQL: ${rule}\n\n`;
  const seen = isChanged
    ? 'rules saw the strings, comments and variables of the document'
    : 'rules saw the document as it came: its path is none of graphql_paths, and no specification declares it';
  return `GraphQL ${operation}: ${seen}${rule === '' ? '' : `; ${rule}`}\n\n`;
}
