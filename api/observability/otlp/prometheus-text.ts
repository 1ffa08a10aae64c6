// The text format of Prometheus 0.0.4 as nodes write it, read back: families with their samples. What is no sample is
// left out, since a newer node may write more than this release knows.

export interface TextSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface TextFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly samples: TextSample[];
}

const escapes: Readonly<Record<string, string>> = { n: '\n', '\\': '\\', '"': '"' };
const label = /([A-Za-z_][A-Za-z0-9_]*)="((?:[^"\\]|\\.)*)",?/g;
const line = /^([A-Za-z_:][A-Za-z0-9_:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})? (\S+)/;

const numberOf = (text: string): number =>
  text === '+Inf' ? Number.POSITIVE_INFINITY : text === '-Inf' ? Number.NEGATIVE_INFINITY : Number(text);

export function readPrometheus(text: string): TextFamily[] {
  const families = new Map<string, { type: string; help: string; samples: TextSample[] }>();
  const familyOf = (name: string) => {
    let family = families.get(name);
    if (family === undefined) families.set(name, (family = { type: 'untyped', help: '', samples: [] }));
    return family;
  };
  for (const row of text.split('\n')) {
    const told = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(row);
    if (told !== null) {
      const [, what, name = '', rest = ''] = told;
      familyOf(name)[what === 'HELP' ? 'help' : 'type'] = rest;
      continue;
    }
    const sample = line.exec(row);
    if (sample === null) continue;
    const [, name = '', labels = '', value = ''] = sample;
    const base = name.replace(/_(?:bucket|sum|count)$/, '');
    const family = families.get(base)?.type === 'histogram' ? base : name;
    familyOf(family).samples.push({ name, labels: labelsOf(labels), value: numberOf(value) });
  }
  return [...families].map(([name, family]) => ({ name, ...family }));
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [, name = '', value = ''] of text.matchAll(label))
    labels[name] = value.replaceAll(/\\(.)/g, (whole, letter: string) => escapes[letter] ?? whole);
  return labels;
}
