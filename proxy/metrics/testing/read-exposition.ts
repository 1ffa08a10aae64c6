// A strict reader of the Prometheus text format: throws at whatever a scraper could stumble over.

export interface Exposition {
  readonly types: ReadonlyMap<string, string>;
  /** By the text in front of the value. */
  readonly samples: ReadonlyMap<string, number>;
}

const labels = '\\{(?:[a-z_]+="(?:[^"\\\\\\n]|\\\\["\\\\n])*",?)*\\}';
const sampleLine = new RegExp(`^([a-z_]+)(${labels})? ([0-9.e+-]+)$`);

const familyOf = (name: string, type: string): string =>
  type === 'histogram' ? name.replace(/_(?:bucket|sum|count)$/, '') : name;

export function readExposition(text: string): Exposition {
  const types = new Map<string, string>();
  const samples = new Map<string, number>();
  let family = '';
  let helped = '';
  const fail = (line: string, why: string): never => {
    throw new Error(`${why}: ${line}`);
  };
  if (!text.endsWith('\n')) fail(text.slice(-20), 'no line feed at the end');
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, keyword = '', name = '', rest = ''] = /^# (HELP|TYPE) ([a-z_]+) (.+)$/.exec(line) ?? [];
    if (keyword === 'HELP') {
      if (types.has(name)) fail(line, 'a family twice');
      helped = name;
    } else if (keyword === 'TYPE') {
      if (helped !== name || types.has(name)) fail(line, 'a TYPE without its HELP, or twice');
      if (!['counter', 'gauge', 'histogram'].includes(rest)) fail(line, 'an unknown type');
      types.set(name, rest);
      family = name;
    } else {
      const [, sample = '', labelText = '', value = ''] = sampleLine.exec(line) ?? fail(line, 'no sample');
      if (familyOf(sample, types.get(family) ?? '') !== family) fail(line, `a sample outside of its family ${family}`);
      if (samples.has(sample + labelText)) fail(line, 'a sample twice');
      if (Number.isNaN(Number(value))) fail(line, 'no number');
      samples.set(sample + labelText, Number(value));
    }
  }
  checkHistograms(types, samples);
  return { types, samples };
}

/** Buckets grow, and the last is the count. */
function checkHistograms(types: Exposition['types'], samples: Exposition['samples']): void {
  for (const [key, count] of samples) {
    const [, name = '', own = ''] = /^([a-z_]+)_count\{(.*)\}$/.exec(key) ?? [];
    if (types.get(name) !== 'histogram') continue;
    let before = 0;
    for (const [bucket, value] of samples) {
      if (!bucket.startsWith(`${name}_bucket{${own},le="`)) continue;
      if (value < before) throw new Error(`a bucket smaller than the one before: ${bucket}`);
      before = value;
    }
    if (before !== count || !samples.has(`${name}_sum{${own}}`)) throw new Error(`${key} is not its last bucket`);
  }
}
