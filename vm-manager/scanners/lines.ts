// Offsets and lines of a text, and what people have written beside a line to set a finding aside.

export class Lines {
  readonly text: string;
  #starts: number[] | null = null;

  constructor(text: string) {
    this.text = text;
  }

  get #all(): readonly number[] {
    if (this.#starts !== null) return this.#starts;
    const starts = [0];
    for (let at = this.text.indexOf('\n'); at !== -1; at = this.text.indexOf('\n', at + 1)) starts.push(at + 1);
    return (this.#starts = starts);
  }

  /** From 1. */
  lineAt(offset: number): number {
    const starts = this.#all;
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  }

  /** From 1. */
  columnAt(offset: number): number {
    return offset - (this.#all[this.lineAt(offset) - 1] ?? 0) + 1;
  }

  /** The text of a line, from 1; empty beyond the last. */
  line(number: number): string {
    const from = this.#all[number - 1];
    if (from === undefined) return '';
    const to = this.#all[number];
    return this.text.slice(from, to === undefined ? undefined : to - 1).replace(/\r$/, '');
  }

  /** Why the rule is set aside at this line: `gatehouse:ignore RULE reason` on it, or alone on the one before. */
  ignored(line: number, rule: string): string | null {
    for (const [number, mustBeAlone] of [
      [line, false],
      [line - 1, true],
    ] as const) {
      const text = this.line(number).slice(0, 2000);
      const [whole, rules = '', reason = ''] = /gatehouse:ignore[ \t]+([\w,.-]+)(?:[ \t]+([^\r\n]*))?/.exec(text) ?? [];
      if (whole === undefined) continue;
      if (mustBeAlone && !/^\s*(?:#|\/\/|\/\*|--|;|<!--|\{#|%)/.test(text)) continue;
      if (!rules.split(',').some((one) => one === rule || one === 'all')) continue;
      return reason.replace(/\s*(?:-->|\*\/|#\})\s*$/, '').trim() || 'no reason given';
    }
    return null;
  }
}
