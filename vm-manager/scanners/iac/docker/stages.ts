// A Dockerfile as stages of instructions, with what is known of its build arguments put in.
import { DockerfileParser, type Instruction as Parsed } from 'dockerfile-ast';

export interface Instruction {
  readonly keyword: string;
  /** As written, continued lines joined, arguments put in where they are known. */
  readonly text: string;
  /** Words; of the JSON form its members. */
  readonly words: readonly string[];
  readonly flags: ReadonlyMap<string, string>;
  readonly line: number;
  readonly endLine: number;
}

export interface Stage {
  readonly from: Instruction;
  /** As FROM names it, arguments put in. */
  readonly image: string;
  readonly name: string | null;
  /** Of the stages before that it continues; null: an image from elsewhere. */
  readonly parent: Stage | null;
  readonly instructions: readonly Instruction[];
  /** Some part of the image's name is not known. */
  readonly isUnknown: boolean;
}

/** Arguments and variables whose value is known. */
function put(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    /\\\$|\$(?:\{(\w+)(?:(:[-+])([^}]*))?\}|(\w+))/g,
    (whole: string, braced: string | undefined, mark: string | undefined, other = '', bare = '') => {
      if (whole === '\\$') return whole;
      const value = values.get(braced ?? bare);
      if (mark === ':+') return value === undefined ? '' : other;
      return value ?? (mark === ':-' ? other : whole);
    },
  );
}

function wordsOf(text: string): readonly string[] {
  if (text.trimStart().startsWith('['))
    try {
      const value: unknown = JSON.parse(text);
      if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
  return [...text.matchAll(/"(?:\\.|[^"\\])*"|'[^']*'|[^\s"']+(?:"(?:\\.|[^"\\])*"|'[^']*'|[^\s"'])*/g)].map(
    ([word]) => (/^(["']).*\1$/s.test(word) ? word.slice(1, -1) : word),
  );
}

function toInstruction(parsed: Parsed, whole: readonly string[], values: ReadonlyMap<string, string>): Instruction {
  const { start, end } = parsed.getRange();
  const raw = whole
    .slice(start.line, end.line + 1)
    .filter((line, index) => index === 0 || !/^\s*#/.test(line))
    .join('\n');
  const isHeredoc = /<<-?["']?\w+/.test(whole[start.line] ?? '');
  const joined = (isHeredoc ? raw : raw.replaceAll(/\\[ \t]*\r?\n/g, ' ')).trim().replace(/^[A-Za-z]+\s*/, '');
  const flags = new Map<string, string>();
  let rest = joined;
  for (
    let found = /^--([\w-]+)(?:=(\S+))?\s+/.exec(rest);
    found !== null;
    found = /^--([\w-]+)(?:=(\S+))?\s+/.exec(rest)
  ) {
    flags.set(found[1] ?? '', put(found[2] ?? 'true', values));
    rest = rest.slice(found[0].length);
  }
  const keyword = parsed.getKeyword();
  const text = keyword === 'RUN' || keyword === 'CMD' ? rest : put(rest, values);
  return { keyword, text, words: wordsOf(text), flags, line: start.line + 1, endLine: end.line + 1 };
}

function learn({ keyword, text, words }: Instruction, values: Map<string, string>): void {
  if (keyword === 'ARG')
    for (const word of words) {
      const at = word.indexOf('=');
      if (at > 0) values.set(word.slice(0, at), word.slice(at + 1).replace(/^(["'])(.*)\1$/, '$2'));
    }
  if (keyword === 'ENV') for (const [name, value] of envOf(text)) values.set(name, value);
}

/** `A=1 B="2"`, or `A one value`. */
export function envOf(text: string): readonly (readonly [name: string, value: string])[] {
  const words = wordsOf(text);
  if (words[0]?.includes('=') !== true)
    return [
      [
        words[0] ?? '',
        text
          .trim()
          .slice((words[0] ?? '').length)
          .trim(),
      ],
    ];
  return words.flatMap((word) => {
    const at = word.indexOf('=');
    return at < 1 ? [] : [[word.slice(0, at), word.slice(at + 1).replace(/^(["'])(.*)\1$/s, '$2')] as const];
  });
}

/** Throws an Error for what has no FROM. */
export function stagesOf(text: string): readonly Stage[] {
  const whole = text.split('\n');
  const globals = new Map<string, string>();
  let values = new Map<string, string>();
  const stages: (Stage & { readonly instructions: Instruction[] })[] = [];
  for (const parsed of DockerfileParser.parse(text).getInstructions()) {
    const one = toInstruction(parsed, whole, values);
    const last = stages.at(-1);
    if (one.keyword === 'FROM') {
      values = new Map(globals);
      const from = toInstruction(parsed, whole, globals);
      const [image = '', as, name] = from.words;
      const parent = stages.findLast((stage) => stage.name === image.toLowerCase()) ?? null;
      stages.push({
        from,
        image,
        name: as?.toLowerCase() === 'as' ? (name ?? '').toLowerCase() : null,
        parent,
        instructions: [],
        isUnknown: image.includes('$'),
      });
    } else if (last === undefined) {
      learn(one, globals);
      learn(one, values);
    } else {
      // an argument of a stage without a default is the one before FROM
      learn(one, values);
      last.instructions.push(one);
    }
  }
  if (stages.length === 0) throw new Error('has no instruction FROM');
  return stages;
}
