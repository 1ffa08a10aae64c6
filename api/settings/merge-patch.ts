// RFC 7396 JSON merge patch, with one meaning made precise: null removes a member, and a removed setting is its
// default.

/** Applies `patch` to `target` without changing either. Arrays and scalars replace; objects merge member by member. */
export function applyMergePatch(target: unknown, patch: unknown): unknown {
  if (patch === null || typeof patch !== 'object' || Array.isArray(patch)) return patch;
  const base = target !== null && typeof target === 'object' && !Array.isArray(target) ? target : {};
  const result = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) result.delete(key);
    else result.set(key, applyMergePatch(result.get(key), value));
  }
  return Object.fromEntries(result);
}
