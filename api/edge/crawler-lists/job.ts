// Fetches the published lists of crawlers' addresses (bot_crawler_range_urls) by the guarded client, each at its
// interval. What cannot be fetched, or is no list, leaves the copy of before in force. Nodes get changes with their
// configuration (api/change/steps/crawler-ranges.ts): the loop that keeps nodes up to date sees the difference.
import { crawlers } from '#proxy/contract';
import type { Settings } from '#settings';
import type { Job } from '../../http-kit/index.js';
import type { Parts } from '../../parts.js';
import { readCrawlerList } from './document.js';
import {
  forgetCrawlerLists,
  isOf,
  keepCrawlerList,
  keepCrawlerListError,
  listCrawlerLists,
  type CrawlerListRow,
  type CrawlerListSource,
} from './store.js';

export type CrawlerListParts = Pick<Parts, 'database' | 'outbound' | 'currentSettings'>;

const bytesMax = 4 * 1024 * 1024;
const timeoutMs = 30_000;
/** After a failure the next attempt comes sooner than the interval says. */
const retryMs = 15 * 60_000;
const hourMs = 3_600_000;

/** When it is fetched next; 0: at the next look. */
export function dueAtMs(settings: Pick<Settings, 'bot_crawler_range_hours'>, row: CrawlerListRow | undefined): number {
  if (row === undefined) return 0;
  const everyMs = settings.bot_crawler_range_hours * hourMs;
  return row.attempted_at.getTime() + (row.last_error === null ? everyMs : Math.min(retryMs, everyMs));
}

export function createCrawlerListJob({ database, outbound, currentSettings }: CrawlerListParts): Job {
  const fetchOne = async (source: CrawlerListSource, nowMs: number): Promise<string> => {
    const now = new Date(nowMs);
    try {
      if (crawlers.every(({ name }) => name !== source.crawler))
        throw new Error(`no crawler is called ${source.crawler}; GET /api/bots names those that there are`);
      const reply = await outbound.send(source.url, { bytesMax, timeoutMs });
      if (reply.status !== 200) throw new Error(`it answered ${reply.status}`);
      const networks = await readCrawlerList(reply.body.toString('utf8'));
      await keepCrawlerList(database.sql, source, networks, now);
      return `${source.crawler}: ${networks.length} networks`;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      await keepCrawlerListError(database.sql, source, reason, now);
      return `${source.crawler} failed: ${reason}`;
    }
  };
  return {
    name: 'crawler-lists',
    everyMs: 60_000,
    timeoutMs: 10 * 60_000,
    async run({ nowMs, signal }) {
      const settings = await currentSettings();
      const wanted = settings.bot_crawler_range_urls;
      const lines: string[] = [];
      const forgotten = await forgetCrawlerLists(database.sql, wanted);
      if (forgotten > 0) lines.push(`${forgotten} lists are wanted no more`);
      const known = await listCrawlerLists(database.sql, settings);
      for (const source of wanted)
        if (nowMs >= dueAtMs(settings, known.find(isOf(source))) && !signal.aborted)
          lines.push(await fetchOne(source, nowMs));
      return lines.join('; ') || 'nothing was due';
    },
  };
}
