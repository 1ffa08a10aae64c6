// Paths of settings that cover what is below them. People write `/admin/*` or `/users/{id}` there, since other settings
// take those; here they would be compared as they stand, and would protect or leave out nothing.
import type { Refuse } from './between-rows.js';
import type { Settings } from './table.js';

/** What normalisation takes away (`//`, `/./`, a backslash) would never be met. */
export const isReachable = (path: string): boolean =>
  /^\/(?!.*(?:^|\/)\.{1,2}(?:\/|$))(?!.*\/\/+[^/])[^?#\\\x00-\x1f\x7f]{0,1023}$/.test(path);

function refusePattern(path: string, at: string, refuse: Refuse): void {
  const literal = /^[^*{]*/.exec(path)?.[0].replace(/\/+$/, '') ?? '';
  if (/[*{}]/.test(path))
    refuse(
      at,
      'is a pattern',
      at.startsWith('/graphql')
        ? 'write the path itself, such as /graphql'
        : `write the beginning of the path, such as ${literal || '/'}: it covers all that is below`,
    );
  else if (!isReachable(path) || /%(?![\dA-Fa-f]{2})/.test(path))
    refuse(
      at,
      'would never be met',
      'leave out "?", "#", backslashes, and segments that are empty, "." or ".."; "%" needs two hexadecimal digits',
    );
}

const prefixLists = ['auth_protected_paths', 'challenge_paths', 'graphql_paths'] as const;

/**
 * Refuses prefixes with `*` or `{…}` in them, and those that no path can begin with. Exclusions are no prefixes of this
 * kind: they become `@pathBelow`, where `*` is a segment.
 */
export function refusePatterns(s: Settings, refuse: Refuse): void {
  const refuseIn = (paths: readonly string[] | null | undefined, at: string): void => {
    for (const [index, path] of (paths ?? []).entries()) refusePattern(path, `${at}/${index}`, refuse);
  };
  for (const list of prefixLists) refuseIn(s[list], `/${list}`);
  for (const [index, { match_path: path }] of s.rl_zones.entries())
    refusePattern(path, `/rl_zones/${index}/match_path`, refuse);
}
