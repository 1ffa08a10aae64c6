// A value cut at what matched in it.
export interface HitStretch {
  readonly text: string;
  readonly isHit: boolean;
}

/** In order and without empty ones; hits that do not lie in the value are ignored. */
export function cutAtHits(value: string, hits: readonly (readonly number[])[]): HitStretch[] {
  const cut: HitStretch[] = [];
  let at = 0;
  for (const [from = 0, to = 0] of hits) {
    if (from < at || to <= from || to > value.length) continue;
    cut.push({ text: value.slice(at, from), isHit: false }, { text: value.slice(from, to), isHit: true });
    at = to;
  }
  cut.push({ text: value.slice(at), isHit: false });
  return cut.filter(({ text }) => text !== '');
}
