// Lists of addresses as operators of crawlers publish them: `{"prefixes": [{"ipv4Prefix": "…"}, …]}` (the form of
// Google's googlebot.json, which others took over), or what the deny list takes: lines, or JSON.
import { admitNetworks } from '../../threat-intel/inner-networks.js';
import { noListOf, parseNetworks } from '../../threat-intel/list-text.js';

/** As many as an entry of bot_crawler_ranges may have. */
export const networksMax = 5000;
/** A list in which more than this share is not addresses is not a list. */
const wrongShareMax = 0.1;

interface Prefix {
  readonly ipv4Prefix?: unknown;
  readonly ipv6Prefix?: unknown;
}

function prefixesOf(text: string): readonly string[] | null {
  if (!/^\s*\{/.test(text)) return null;
  const { prefixes } = JSON.parse(text) as { readonly prefixes?: unknown };
  if (!Array.isArray(prefixes)) return null;
  return (prefixes as (Prefix | null)[]).flatMap((one) =>
    [one?.ipv4Prefix, one?.ipv6Prefix].filter((value) => value !== undefined).map(String),
  );
}

/**
 * Canonical networks. Throws Error for what is no such list, is too long, or covers so much of the internet that nearly
 * everybody would be that crawler. Inner networks are left out: behind a proxy every client has such an address.
 */
export async function readCrawlerList(text: string): Promise<readonly string[]> {
  const { networks: listed, problems } = await parseNetworks(prefixesOf(text) ?? text);
  if (listed.length === 0 || problems.length > (listed.length + problems.length) * wrongShareMax)
    throw noListOf({ networks: listed, problems });
  if (listed.length > networksMax)
    throw new Error(`it has ${listed.length} networks, and at most ${networksMax} of one list are taken`);
  const { networks } = admitNetworks(listed);
  if (networks.length === 0) throw new Error('it has inner networks only');
  return networks;
}
