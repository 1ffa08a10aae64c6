// What the road of a request has to know of sites, apart from how configurations are made of settings: workers load
// this and not the settings. Pure.

/** Name of the site that is the console; people cannot take it, names of sites begin with a letter or digit. */
export const dashboardSite = '.dashboard';

/**
 * What becomes of a request path at the upstream. `basePath` stands before the rest of the path, without a slash at its
 * end, null = nothing changes; `stripsPrefix`: it takes the place of the prefix, else it stands before the whole path.
 */
export function pathAtUpstream(
  upstream: string,
  stripPrefix: boolean | null,
): { readonly basePath: string | null; readonly stripsPrefix: boolean } {
  // Of `http://h:1` and `http://h:1/`, which mean the same to a URL, only the second has always replaced the prefix.
  const stripsPrefix = stripPrefix ?? upstream.slice(upstream.indexOf('://') + 3).includes('/');
  const basePath = new URL(upstream).pathname.replace(/\/+$/, '');
  return { basePath: stripsPrefix || basePath !== '' ? basePath : null, stripsPrefix };
}
