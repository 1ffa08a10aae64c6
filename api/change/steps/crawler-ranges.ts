// Published addresses of crawlers, as a step of the road of a change: the last good copies of the lists that the
// settings name by URL become entries of bot_crawler_ranges, which is what nodes know. A list that changes makes a new
// configuration of the same version, and nodes get it as they get any that they are behind of.
import { crawlers } from '#proxy/contract';
import type { Settings } from '#settings';
import { networksMax } from '../../edge/crawler-lists/document.js';
import type { CrawlerListRow } from '../../edge/crawler-lists/store.js';

type Ranges = Settings['bot_crawler_ranges'][number];

/** Networks of lists → entries as operators publish them, each no longer than the settings take. */
function entriesOf(crawler: string, networks: readonly string[]): Ranges[] {
  const prefixes = networks.map((network) =>
    network.includes(':') ? { ipv6Prefix: network } : { ipv4Prefix: network },
  );
  const entries: Ranges[] = [];
  for (let from = 0; from < prefixes.length; from += networksMax)
    entries.push({ crawler, prefixes: prefixes.slice(from, from + networksMax) });
  return entries;
}

/** Entries of the settings stay. Lists of a name that no crawler has are left out: a node would refuse them. */
export function withCrawlerRanges<S extends Pick<Settings, 'bot_crawler_ranges'>>(
  settings: S,
  lists: readonly CrawlerListRow[],
): S {
  const fetched = crawlers.flatMap(({ name }) => {
    const networks = lists.filter(({ crawler }) => crawler === name).flatMap((list) => list.networks);
    return entriesOf(name, [...new Set(networks)].sort());
  });
  if (fetched.length === 0) return settings;
  return { ...settings, bot_crawler_ranges: [...settings.bot_crawler_ranges, ...fetched] };
}
