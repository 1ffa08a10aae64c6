// Crawlers that say who they are, and how it is proven: forward-confirmed reverse DNS, as their operators describe it.
// The name of the address has to end with a suffix of the operator, at a dot, and that name has to lead back to the
// address. One without a suffix publishes lists of addresses only; it stays `unverified` here.

/** AI crawlers apart: `ai-training` collects, `ai-search` indexes, `ai-assistant` fetches for somebody who asks. */
export type CrawlerKind = 'search' | 'preview' | 'ads' | 'ai-training' | 'ai-search' | 'ai-assistant';

export interface Crawler {
  readonly name: string;
  readonly kind: CrawlerKind;
  /** In the User-Agent, in small letters: of the crawler, and not of its maker's browsers and apps. */
  readonly token: string;
  readonly suffixes: readonly string[];
  /** Its forward names are not always there: what does not lead back is no proof against it. */
  readonly isForwardUnreliable?: boolean;
}

const row = (name: string, kind: CrawlerKind, token: string, ...suffixes: string[]): Crawler => ({
  name,
  kind,
  token,
  suffixes,
});

/** Longer tokens before those that they contain. */
export const crawlers: readonly Crawler[] = [
  row('AdsBot-Google', 'ads', 'adsbot-google', 'googlebot.com', 'google.com'),
  row('Googlebot', 'search', 'googlebot', 'googlebot.com', 'google.com'),
  row('Bingbot', 'search', 'bingbot', 'search.msn.com'),
  row('BingPreview', 'preview', 'bingpreview', 'search.msn.com'),
  row('Applebot', 'search', 'applebot', 'applebot.apple.com'),
  row('DuckDuckBot', 'search', 'duckduckbot'),
  row('YandexBot', 'search', 'yandex.com/bots', 'yandex.ru', 'yandex.net', 'yandex.com'),
  { ...row('Baiduspider', 'search', 'baiduspider', 'baidu.com', 'baidu.jp'), isForwardUnreliable: true },
  row('Yahoo Slurp', 'search', 'yahoo! slurp', 'crawl.yahoo.net', 'yse.yahoo.net'),
  row('SeznamBot', 'search', 'seznambot', 'seznam.cz'),
  row('Sogou', 'search', 'sogou web spider', 'sogou.com'),
  row('PetalBot', 'search', 'petalbot', 'petalsearch.com', 'aspiegel.com'),
  row('MojeekBot', 'search', 'mojeekbot', 'mojeek.com'),
  row('Qwantbot', 'search', 'qwantbot', 'search.qwant.com'),
  row('Pinterestbot', 'preview', 'pinterestbot', 'pinterest.com', 'pinterestcrawler.com'),
  row('Twitterbot', 'preview', 'twitterbot', 'twttr.com'),
  row('Amazonbot', 'ai-training', 'amazonbot', 'crawl.amazonbot.amazon'),
  row('Facebook', 'preview', 'facebookexternalhit'),
  row('OAI-SearchBot', 'ai-search', 'oai-searchbot'),
  row('ChatGPT-User', 'ai-assistant', 'chatgpt-user'),
  row('GPTBot', 'ai-training', 'gptbot'),
  row('PerplexityBot', 'ai-search', 'perplexitybot'),
  row('ClaudeBot', 'ai-training', 'claudebot'),
];

/** null: it does not claim to be one of them. */
export function claimedCrawler(userAgent: string): Crawler | null {
  const text = userAgent.toLowerCase();
  return crawlers.find(({ token }) => text.includes(token)) ?? null;
}

export interface NameService {
  /** Names of an address; rejects with a code of c-ares. */
  reverse(address: string): Promise<readonly string[]>;
  resolve4(name: string): Promise<readonly string[]>;
  resolve6(name: string): Promise<readonly string[]>;
}

/**
 * `verified`: it is. `impostor`: the address has no name, or names of other owners, or names that do not lead back.
 * `unverified`: unknown, because a name server did not answer, or because there is no suffix to compare with.
 */
export type CrawlerVerdict = 'verified' | 'impostor' | 'unverified';

export interface CrawlerProof {
  readonly verdict: CrawlerVerdict;
  /** What the address is called, at most five. */
  readonly names: readonly string[];
  readonly detail: string;
  /** A name server did not answer (time-out, SERVFAIL, refusal): ask again soon. */
  readonly isOpen: boolean;
}

const namesMax = 5;

/** Codes of c-ares for "no such record": NXDOMAIN, and NOERROR without data (RFC 2308). No other code is proof. */
const absentCodes: ReadonlySet<string> = new Set(['ENOTFOUND', 'ENODATA']);

const isBelow = (name: string, suffix: string): boolean => name === suffix || name.endsWith(`.${suffix}`);

const codeOf = (error: unknown): string => (error as { readonly code?: string }).code ?? String(error);

/**
 * The names of an address, at most five, in small letters and without the dot at the end; none where it has none.
 * Rejects where nobody answered.
 */
async function namesOf(address: string, names: NameService): Promise<readonly string[]> {
  try {
    return (await names.reverse(address)).slice(0, namesMax).map((name) => name.toLowerCase().replace(/\.$/, ''));
  } catch (error) {
    if (absentCodes.has(codeOf(error))) return [];
    throw error;
  }
}

/** Whether one of these names leads to the address. `open`: some question had no answer, and no other one proved it. */
async function leadsBack(
  own: readonly string[],
  names: NameService,
  isAddress: (one: string) => boolean,
): Promise<{ readonly name: string | null; readonly isOpen: boolean }> {
  let isOpen = false;
  for (const name of own)
    for (const ask of [() => names.resolve4(name), () => names.resolve6(name)])
      try {
        if ((await ask()).some(isAddress)) return { name, isOpen: false };
      } catch (error) {
        // a name may have addresses of one family only
        if (!absentCodes.has(codeOf(error))) isOpen = true;
      }
  return { name: null, isOpen };
}

/**
 * Forward-confirmed reverse DNS. An operator that describes this check gives each of its crawlers a name, so an address
 * without one (NXDOMAIN) belongs to an impostor. `isSame`: whether two texts are one address. Never rejects.
 */
export async function proveCrawler(
  address: string,
  { suffixes, isForwardUnreliable = false }: Crawler,
  names: NameService,
  isSame: (left: string, right: string) => boolean,
): Promise<CrawlerProof> {
  const proof = (verdict: CrawlerVerdict, found: readonly string[], detail: string, isOpen = false): CrawlerProof => ({
    ...{ verdict, names: found, detail, isOpen },
  });
  if (suffixes.length === 0) return proof('unverified', [], 'its operator publishes addresses, not names');
  let found: readonly string[];
  try {
    found = await namesOf(address, names);
  } catch (error) {
    return proof('unverified', [], `the name server did not answer (${codeOf(error)})`, true);
  }
  if (found.length === 0) return proof('impostor', [], 'the address has no name');
  const own = found.filter((name) => suffixes.some((suffix) => isBelow(name, suffix)));
  if (own.length === 0) return proof('impostor', found, 'the address is called something else');
  const { name, isOpen } = await leadsBack(own, names, (one) => isSame(one, address));
  if (name !== null) return proof('verified', found, `${name} leads back`);
  const isProven = !isOpen && !isForwardUnreliable;
  return proof(isProven ? 'impostor' : 'unverified', found, 'its name does not lead back to the address', isOpen);
}
