// The failed assertions of one test file, each in a few lines: where it stands, what was wanted and what was found. CI
// keeps the beginning and the end of a long output, so that this is what has to stand there.
import type { Positions } from './positions.js';

/** Of one assertion; what tap says beyond it (stack, source) is in .tap/last-run.tap. */
export interface Failure {
  /** Names of the subtests, outermost first, and of the assertion. */
  readonly path: readonly string[];
  /** `file:line`, '' where tap does not say. */
  where: string;
  /** `-` what was wanted, `+` what was found; or another word of tap about it. */
  readonly detail: string[];
}

const failuresMax = 20;
const detailLinesMax = 10;
const charsMax = 160;

/** Members of tap's diagnosis that say what was found, in one line. */
const told = new Set(['found', 'wanted', 'error', 'code', 'signal', 'expired', 'message', 'pattern', 'tapCaught']);

interface Open {
  readonly depth: number;
  readonly name: string;
  /** How many failures were known when it began. */
  readonly before: number;
}

const depthOf = (line: string): number => /^ */.exec(line)?.[0].length ?? 0;

export class Failures {
  readonly list: Failure[] = [];
  private readonly open: Open[] = [];
  /** Whose diagnosis is being read, how far it is indented, and the member that goes on over several lines. */
  private current: Failure | null = null;
  private indent = -1;
  private member = '';
  private fileName = '';
  private lineNumber = 0;

  /** `positions`: of the sources of what is built. */
  constructor(private readonly positions: Positions) {}

  /** Takes the lines of a TAP stream one after another. */
  take(line: string): void {
    const depth = depthOf(line);
    if (this.indent >= 0) {
      if (line.trim() === '...' && depth === this.indent) this.indent = -1;
      else this.diagnose(line.slice(this.indent));
      return;
    }
    if (this.current !== null && line.trim() === '---') {
      this.indent = depth;
      return;
    }
    this.current = null;
    const begun = /^ *# Subtest: (.*)$/.exec(line)?.[1];
    if (begun !== undefined) {
      this.close(depth);
      this.open.push({ depth, name: begun, before: this.list.length });
      return;
    }
    const ended = /^ *(not )?ok \d+ - (.*?)(?: # time=[\d.]+ms)?$/.exec(line);
    if (ended !== null) this.end(depth, ended[1] !== undefined, ended[2] ?? '');
  }

  private close(depth: number): Open | undefined {
    const at = this.open.findLastIndex((one) => one.depth === depth);
    return at < 0 ? undefined : this.open.splice(at)[0];
  }

  private end(depth: number, isFailure: boolean, name: string): void {
    const subtest = this.open.findLast((one) => one.depth === depth);
    const isSubtest = subtest?.name === name;
    if (isSubtest) this.close(depth);
    if (!isFailure || / # (?:TODO|SKIP)\b/i.test(name)) return;
    if (isSubtest && this.list.length > subtest.before) return; // what failed in it is known
    this.current = { path: [...this.open.map((one) => one.name), name], where: '', detail: [] };
    this.member = '';
    this.fileName = '';
    this.list.push(this.current);
  }

  /** One line of what tap says about the assertion, in YAML. */
  private diagnose(line: string): void {
    const { current } = this;
    if (current === null) return;
    const [, name, value = ''] = /^([a-zA-Z]\w*): ?(.*)$/.exec(line) ?? [];
    if (name !== undefined) {
      this.member = name;
      if (told.has(name) && value !== '' && !/^[|>]/.test(value)) current.detail.push(`${name}: ${value}`);
      return;
    }
    const text = line.slice(2);
    if (text.trim() === '') return;
    if (this.member === 'at') this.place(current, text);
    else if (this.member === 'diff' && !/^(?:--- |\+\+\+ |@@ )/.test(text)) current.detail.push(text);
    else if (told.has(this.member)) current.detail.push(`${this.member}: ${text}`);
  }

  private place(current: Failure, text: string): void {
    const [, name, value = ''] = /^(\w+): (.*)$/.exec(text) ?? [];
    if (name === 'fileName') this.fileName = value;
    if (name === 'lineNumber') {
      this.lineNumber = Number(value);
      current.where = `${this.fileName}:${value}`;
    }
    if (name !== 'columnNumber') return;
    const { file, line } = this.positions.toSource({
      file: this.fileName,
      line: this.lineNumber,
      column: Number(value),
    });
    current.where = `${file}:${line}`;
  }
}

const short = (text: string): string => (text.length > charsMax ? `${text.slice(0, charsMax)}…` : text);

/** As printed: a line for the assertion, indented below it what was wanted (-) and found (+). */
export function describeFailures(failures: readonly Failure[]): string[] {
  const lines = failures.slice(0, failuresMax).flatMap(({ path, where, detail }) => {
    const more = detail.length - detailLinesMax;
    return [
      `  failed: ${short(path.join(' > '))}${where === '' ? '' : ` (${where})`}`,
      ...detail.slice(0, detailLinesMax).map((line) => `    ${short(line)}`),
      ...(more > 0 ? [`    … ${more} lines more`] : []),
    ];
  });
  const left = failures.length - failuresMax;
  return left > 0 ? [...lines, `  … ${left} failed assertions more`] : lines;
}
